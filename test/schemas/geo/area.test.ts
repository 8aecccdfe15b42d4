import { describe, expect, test } from '@jest/globals'
import { geoContains } from 'd3-geo'
import fc from 'fast-check'
import type { Polygon } from 'geojson'
import geographiclib from 'geographiclib-geodesic'
import { areasOf, type Area } from '../../../schemas/geo/area.ts'
import { EARTH_RADIUS_METRES, type Coordinates } from '../../../schemas/geo/distance.ts'
import type {
  CircleShape,
  LonLat,
  PolygonRing,
  GeofenceShape,
} from '../../../schemas/definitions/geofence.ts'
import { ring } from './ring.ts'

const { Geodesic } = geographiclib
/** On the sphere used for distances, and on the ellipsoid. */
const sphere = new Geodesic.Geodesic(EARTH_RADIUS_METRES, 0)
const metresOn = (geodesic: typeof sphere, a: Coordinates, b: Coordinates) =>
  geodesic.Inverse(a.latitude, a.longitude, b.latitude, b.longitude).s12 as number

const POINTS_OF_EDGE = 100

/** The least distance from points spaced densely along all edges. */
function metresFromEdges(rings: readonly PolygonRing[], place: Coordinates): number {
  const points = rings.flatMap((ring) => densified(ring, POINTS_OF_EDGE))
  return Math.min(
    ...points.map(([longitude, latitude]) => metresOn(sphere, place, { latitude, longitude })),
  )
}

/** The ring with `positions` interpolated on each edge, straight in longitude and latitude. */
function densified(ring: PolygonRing, positions: number): LonLat[] {
  return ring.slice(1).flatMap((to, n) => {
    const from = ring[n] as LonLat
    const east = ((((to[0] - from[0]) % 360) + 540) % 360) - 180
    return Array.from({ length: positions }, (_, at): LonLat => {
      const part = at / positions
      return [from[0] + east * part, from[1] + (to[1] - from[1]) * part]
    })
  })
}

/** Rings whose corners go once around a middle. */
const stars = fc
  .record({
    longitude: fc.double({ min: -180, max: 180, noNaN: true }),
    latitude: fc.double({ min: -70, max: 70, noNaN: true }),
    size: fc.constantFrom(0.001, 0.05, 2, 15),
    reaches: fc.array(fc.double({ min: 0.3, max: 1, noNaN: true }), { minLength: 3, maxLength: 9 }),
  })
  .map(({ longitude, latitude, size, reaches }) => {
    const corners = reaches.map((reach, n): LonLat => {
      const turn = (2 * Math.PI * n) / reaches.length
      return [
        withinHalfTurn(longitude + size * reach * Math.cos(turn)),
        latitude + size * reach * Math.sin(turn),
      ]
    })
    const ring: PolygonRing = [...corners, corners[0] as LonLat]
    return { ring, longitude, latitude, size }
  })

function withinHalfTurn(longitude: number): number {
  if (longitude > 180) return longitude - 360
  return longitude < -180 ? longitude + 360 : longitude
}

const offsets = fc.tuple(
  fc.double({ min: -2, max: 2, noNaN: true }),
  fc.double({ min: -2, max: 2, noNaN: true }),
)

test('the distance to an edge is the least great-circle distance to its points, both inside and outside, and across 180°', () => {
  fc.assert(
    fc.property(stars, offsets, ({ ring, longitude, latitude, size }, [east, north]) => {
      const place = {
        longitude: withinHalfTurn(longitude + east * size),
        latitude: latitude + north * Math.min(size, 8),
      }
      const expected = metresFromEdges([ring], place)
      const metres = only(polygon(ring)).metresFromEdge(place, Infinity)
      // Between two points of the model an edge may be slightly nearer.
      const apart = (4 * size * 111_320) / POINTS_OF_EDGE
      expect(metres).toBeLessThanOrEqual(expected + 0.01)
      expect(metres).toBeGreaterThanOrEqual(
        Math.sqrt(Math.max(0, expected ** 2 - apart ** 2)) - apart,
      )
      expect(only(polygon(ring)).metresFromEdge(place, expected / 2)).toBe(expected / 2)
    }),
    { numRuns: 25 },
  )
})

test("the depth of a square's middle is half its side, within half a percent of the ellipsoid", () => {
  const square = only(polygon(squareAround({ longitude: 13.7, latitude: 45.27 }, 0.01)))
  const middle = { longitude: 13.7, latitude: 45.27 }
  const wgs84 = metresOn(Geodesic.WGS84, middle, { longitude: 13.71, latitude: 45.27 })
  const depth = square.metresFromEdge(middle, Infinity)
  expect(Math.abs(depth / wgs84 - 1)).toBeLessThan(0.005)
  expect(depth).toBeCloseTo(metresOn(sphere, middle, { longitude: 13.71, latitude: 45.27 }), 3)
})

test('a long edge is straight in longitude and latitude, not a great circle', () => {
  // A great circle between the ends of the northern edge reaches 66.9°.
  const wide = only(polygon(ring('0 50, 80 50, 80 60, 0 60, 0 50')))
  expect(wide.contains({ longitude: 40, latitude: 59.9 })).toBe(true)
  expect(wide.contains({ longitude: 40, latitude: 60.1 })).toBe(false)
  const above = { longitude: 40, latitude: 61 }
  const expected = metresFromEdges(
    [
      [
        [30, 60],
        [50, 60],
      ],
    ],
    above,
  )
  expect(wide.metresFromEdge(above, Infinity)).toBeCloseTo(expected, 0)
})

test('an area contains the same points as in d3-geo with its edges split into short ones', () => {
  fc.assert(
    fc.property(stars, offsets, ({ ring, longitude, latitude, size }, [east, north]) => {
      const place = {
        longitude: withinHalfTurn(longitude + east * size),
        latitude: latitude + north * Math.min(size, 8),
      }
      const area = only(polygon(ring))
      // Here the model's segments, which are great circles, differ from straight lines.
      fc.pre(area.metresFromEdge(place, Infinity) > size * 500 + 0.01)
      const pieces = densified(ring, 20)
      // In d3-geo a ring's inside is on its right.
      const clockwise = [...pieces, pieces[0] as LonLat].reverse().map(([x, y]) => [x, y])
      const geometry: Polygon = { type: 'Polygon', coordinates: [clockwise] }
      const expected = geoContains(geometry, [place.longitude, place.latitude])
      expect(area.contains(place)).toBe(expected)
      if (expected) expect(isInABox(area, place)).toBe(true)
    }),
    { numRuns: 150 },
  )
})

test('a circle contains the points within its radius, and its boxes contain them all, even at 180° and the poles', () => {
  fc.assert(
    fc.property(
      fc.record({
        longitude: fc.double({ min: -180, max: 180, noNaN: true }),
        latitude: fc.double({ min: -90, max: 90, noNaN: true }),
        radius: fc.double({ min: 10, max: 1_000_000, noNaN: true }),
      }),
      fc.double({ min: 0, max: 360, noNaN: true }),
      fc.double({ min: 0, max: 2, noNaN: true }),
      (centre, azimuth, part) => {
        const area = only({ type: 'circle', ...centre })
        const metres = centre.radius * part
        const { lat2 = 0, lon2 = 0 } = sphere.Direct(
          centre.latitude,
          centre.longitude,
          azimuth,
          metres,
        )
        const place = { latitude: lat2, longitude: withinHalfTurn(lon2) }
        fc.pre(Math.abs(metres - centre.radius) > 0.001)
        expect(area.contains(place)).toBe(part < 1)
        expect(area.metresFromEdge(place, Infinity)).toBeCloseTo(
          Math.abs(metres - centre.radius),
          3,
        )
        if (part < 1) expect(isInABox(area, place)).toBe(true)
      },
    ),
  )
})

test('an area across 180° has two boxes and contains points on both sides', () => {
  const fiji = only(polygon(ring('177 -20, -178 -20, -178 -15, 177 -15, 177 -20')))
  expect(fiji.boxes).toHaveLength(2)
  for (const longitude of [178, 180, -180, -179]) {
    expect(fiji.contains({ longitude, latitude: -17 })).toBe(true)
    expect(isInABox(fiji, { longitude, latitude: -17 })).toBe(true)
  }
  expect(fiji.contains({ longitude: 0, latitude: -17 })).toBe(false)
  expect(isInABox(fiji, { longitude: 0, latitude: -17 })).toBe(false)
})

test('a hole is outside, wherever its longitudes start, and its edge counts for the distance', () => {
  const outer: PolygonRing = ring('177 -20, -178 -20, -178 -15, 177 -15, 177 -20')
  const hole: PolygonRing = ring('-179.5 -18, -179 -18, -179 -17, -179.5 -17, -179.5 -18')
  const area = only({ type: 'Polygon', coordinates: [outer, hole] })
  const inHole = { longitude: -179.25, latitude: -17.5 }
  expect(area.contains(inHole)).toBe(false)
  expect(area.metresFromEdge(inHole, Infinity)).toBeCloseTo(metresFromEdges([hole], inHole), 0)
  expect(area.contains({ longitude: 179, latitude: -17.5 })).toBe(true)
})

test('both windings of a ring give the same area', () => {
  const ring = squareAround({ longitude: 13.7, latitude: 45.27 }, 0.01)
  const place = { longitude: 13.705, latitude: 45.27 }
  for (const winding of [ring, [...ring].reverse()]) {
    expect(only(polygon(winding)).contains(place)).toBe(true)
  }
})

test('the shorter side of a box is measured in metres, not in degrees', () => {
  const tall = only(polygon(ring('0 60, 0.01 60, 0.01 60.008, 0 60.008, 0 60')))
  const width = metresOn(
    sphere,
    { longitude: 0, latitude: 60.004 },
    { longitude: 0.01, latitude: 60.004 },
  )
  expect(tall.shorterSideMetres).toBeCloseTo(width, 3)
  expect(only({ type: 'circle', latitude: 0, longitude: 0, radius: 10 }).shorterSideMetres).toBe(20)
})

function polygon(ring: PolygonRing): GeofenceShape {
  return { type: 'Polygon', coordinates: [ring] }
}

function squareAround({ longitude, latitude }: Coordinates, reach: number): PolygonRing {
  const [west, east] = [longitude - reach, longitude + reach]
  const [south, north] = [latitude - reach, latitude + reach]
  return [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ]
}

function only(shape: GeofenceShape | CircleShape): Area {
  const [area, ...others] = areasOf(shape)
  expect(others).toEqual([])
  return area as Area
}

function isInABox({ boxes }: Area, { longitude, latitude }: Coordinates): boolean {
  return boxes.some(
    ({ west, south, east, north }) =>
      west <= longitude && longitude <= east && south <= latitude && latitude <= north,
  )
}

describe('polygons that meet at 180°', () => {
  const box = (west: number, east: number, south = -18, north = -16): PolygonRing => [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ]
  const cut = (...polygons: readonly (readonly PolygonRing[])[]) =>
    areasOf({ type: 'MultiPolygon', coordinates: polygons })
  const at = (longitude: number, latitude: number) => ({ longitude, latitude })

  test.each([
    [box(177, 180), box(-180, -178)],
    [box(-180, -178), box(177, 180)],
    [[...box(177, 180)].reverse(), box(-180, -178)],
    [box(177, 180), box(180, 182)],
  ])('become one area without an edge there, in any order and winding %#', (one, other) => {
    const joined = only({ type: 'MultiPolygon', coordinates: [[one], [other]] })
    const whole = only({ type: 'Polygon', coordinates: [box(177, -178)] })
    expect(new Set(joined.boxes)).toEqual(new Set(whole.boxes))
    expect(joined.shorterSideMetres).toBeCloseTo(whole.shorterSideMetres, 3)
    expect(joined.squareMetres / whole.squareMetres).toBeCloseTo(1, 9)
    for (const longitude of [176, 177.5, 179.99995, 180, -180, -179.9999, -178.2, -177]) {
      for (const latitude of [-18.1, -17, -16.001]) {
        const place = at(longitude, latitude)
        expect(joined.contains(place)).toBe(whole.contains(place))
        expect(joined.metresFromEdge(place, Infinity)).toBeCloseTo(
          whole.metresFromEdge(place, Infinity),
          2,
        )
      }
    }
  })

  test('keep the edge where only one of them lies', () => {
    const [joined, other] = cut([box(177, 180)], [box(-180, -178, -17, -15)])
    expect(other).toBeUndefined()
    expect(joined!.metresFromEdge(at(179.999, -16.5), Infinity)).toBeGreaterThan(50_000)
    expect(joined!.metresFromEdge(at(179.999, -17.5), Infinity)).toBeLessThan(110)
    expect(joined!.metresFromEdge(at(-179.999, -15.5), Infinity)).toBeLessThan(110)
  })

  test('keep the edge of a hole in only one of them', () => {
    const hole = box(179, 180, -17.5, -16.5)
    const [one] = cut([box(177, 180), hole], [box(-180, -178)])
    expect(one!.metresFromEdge(at(-179.999, -17), Infinity)).toBeLessThan(110)
    const [both] = cut([box(177, 180), hole], [box(-180, -178), box(-180, -179, -17.5, -16.5)])
    expect(both!.metresFromEdge(at(180, -17), Infinity)).toBeGreaterThan(50_000)
  })

  test('stay separate if they only touch, lie on one side, or meet elsewhere', () => {
    expect(cut([box(177, 180)], [box(-180, -178, -16, -15)])).toHaveLength(2)
    expect(cut([box(177, 180)], [box(178, 180)])).toHaveLength(2)
    expect(cut([box(10, 11)], [box(11, 12)])).toHaveLength(2)
    expect(cut([box(10, 11)], [box(177, 180)], [box(-180, -178)])).toHaveLength(2)
  })
})
