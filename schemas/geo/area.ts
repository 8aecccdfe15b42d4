import pointInPolygon from 'point-in-polygon-hao'
import {
  polygonsOf,
  type CircleShape,
  type PolygonRing,
  type GeofenceShape,
} from '../definitions/geofence.ts'
import {
  degrees,
  EARTH_RADIUS_METRES,
  metresBetween,
  radians,
  type Coordinates,
} from './distance.ts'
import { earthPointOf } from './earth-point.ts'
import { longitudeNear, unwrapRing } from './bounds.ts'
import { edgesOf, measureToNearest, type Edge } from './nearest-edge.ts'
import { joinAtSeam, type JoinedPolygons } from './seam.ts'

/** In degrees; west is never above east. */
export type Box = {
  readonly west: number
  readonly south: number
  readonly east: number
  readonly north: number
}

/** A circle or polygon, prepared for many look-ups. */
export type Area = {
  /** Boxes within ±180° that contain it together; two if it crosses the 180th meridian. */
  readonly boxes: readonly Box[]
  /** The shorter side of its bounding box. */
  readonly shorterSideMetres: number
  readonly squareMetres: number
  /** Points on the edge are inside. */
  contains(place: Coordinates): boolean
  /** The distance from its edge, inside or outside, or `atMost` if that is less. */
  metresFromEdge(place: Coordinates, atMost: number): number
}

/** A multipolygon is several areas, except that polygons joined across 180° are one. */
export function areasOf(shape: GeofenceShape): readonly Area[] {
  return shape.type === 'circle' ? [circle(shape)] : joinAtSeam(polygonsOf(shape)).map(polygons)
}

/** Boxes within ±180° that contain all points up to `radius` metres away. */
export function boxesAround(circle: Omit<CircleShape, 'type'>): readonly Box[] {
  return withinHalfTurn(boxAround(circle))
}

function circle({ latitude, longitude, radius }: CircleShape): Area {
  const centre = { latitude, longitude }
  return {
    boxes: boxesAround({ latitude, longitude, radius }),
    shorterSideMetres: 2 * radius,
    squareMetres:
      Math.PI * (2 * EARTH_RADIUS_METRES * Math.sin(radius / EARTH_RADIUS_METRES / 2)) ** 2,
    contains: (place) => metresBetween(centre, place) <= radius,
    metresFromEdge: (place, atMost) =>
      Math.min(atMost, Math.abs(metresBetween(centre, place) - radius)),
  }
}

function boxAround({ latitude, longitude, radius }: Omit<CircleShape, 'type'>): Box {
  const reach = radius / EARTH_RADIUS_METRES
  const south = latitude - degrees(reach)
  const north = latitude + degrees(reach)
  // Around a pole it includes every longitude.
  if (south <= -90 || north >= 90) {
    return { west: -180, south: Math.max(-90, south), east: 180, north: Math.min(90, north) }
  }
  const aside = degrees(Math.asin(Math.sin(reach) / Math.cos(radians(latitude))))
  return { west: longitude - aside, south, east: longitude + aside, north }
}

/**
 * Creates an area from polygons. Edges are straight in longitude and latitude, and take the short
 * way round.
 */
function polygons({ parts, lines }: JoinedPolygons): Area {
  const whole = parts.map((rings) => rings.map(unwrapRing))
  const first = middleOf(boxOf(whole[0]?.[0] ?? []))
  const solids = whole.map(([outer = [], ...holes]) => {
    const beside = nextTo(outer, first)
    const middle = middleOf(boxOf(beside))
    const contours = [beside, ...holes.map((hole) => nextTo(hole, middle))].map((ring) =>
      ring.map(([longitude, latitude]) => [longitude, latitude]),
    )
    return { outer: beside, middle, contours }
  })
  const box = boxOf(solids.flatMap(({ outer }) => outer))
  const latitude = (box.south + box.north) / 2
  const halfTurn = box.west + Math.min(180, box.east - box.west)
  // Few of thousands of geofences ever have a device nearby.
  let edges: readonly (readonly Edge[])[] | undefined
  return {
    boxes: withinHalfTurn(box),
    shorterSideMetres: Math.min(
      radians(box.north - box.south) * EARTH_RADIUS_METRES,
      metresBetween({ latitude, longitude: box.west }, { latitude, longitude: halfTurn }),
    ),
    squareMetres: whole.reduce(
      (sum, [outer = [], ...holes]) =>
        sum + holes.reduce((rest, hole) => rest - ringArea(hole), ringArea(outer)),
      0,
    ),
    contains({ latitude, longitude }) {
      return solids.some(
        ({ middle, contours }) =>
          pointInPolygon([longitudeNear(middle, longitude), latitude], contours) !== false,
      )
    },
    metresFromEdge(place, atMost) {
      const point = earthPointOf(place.latitude, place.longitude)
      edges ??= lines().map(edgesOf)
      let nearest = atMost
      for (const line of edges) nearest = measureToNearest(line, point, nearest)
      return nearest
    },
  }
}

function middleOf({ west, east }: Box): number {
  return (west + east) / 2
}

/** On the sphere, between edges that are straight in longitude and latitude. */
function ringArea(ring: PolygonRing): number {
  let sum = 0
  for (const [n, [east, north]] of ring.entries()) {
    const [west, south] = ring[n - 1] ?? [east, north]
    const half = radians(north - south) / 2
    const middle = Math.sin(radians(north + south) / 2)
    sum += radians(east - west) * middle * (half === 0 ? 1 : Math.sin(half) / half)
  }
  return Math.abs(sum) * EARTH_RADIUS_METRES ** 2
}

/** The ring shifted by a full turn, if that is nearer to the longitude. */
function nextTo(ring: PolygonRing, middle: number): PolygonRing {
  const own = middleOf(boxOf(ring))
  const turn = longitudeNear(middle, own) - own
  return turn === 0 ? ring : ring.map(([longitude, latitude]) => [longitude + turn, latitude])
}

function boxOf(ring: PolygonRing): Box {
  const box = { west: Infinity, south: Infinity, east: -Infinity, north: -Infinity }
  for (const [longitude, latitude] of ring) {
    box.west = Math.min(box.west, longitude)
    box.east = Math.max(box.east, longitude)
    box.south = Math.min(box.south, latitude)
    box.north = Math.max(box.north, latitude)
  }
  return box
}

/** In degrees, a tenth of a millimetre: rounding must not move a point out of its area's box. */
const MARGIN = 1e-9

function withinHalfTurn({ west, south, east, north }: Box): readonly Box[] {
  const whole = {
    west: west - MARGIN,
    south: south - MARGIN,
    east: east + MARGIN,
    north: north + MARGIN,
  }
  if (whole.east - whole.west >= 360) return [{ ...whole, west: -180, east: 180 }]
  if (whole.west < -180) {
    return [
      { ...whole, west: -180 },
      { ...whole, west: whole.west + 360, east: 180 },
    ]
  }
  if (whole.east > 180) {
    return [
      { ...whole, east: 180 },
      { ...whole, west: -180, east: whole.east - 360 },
    ]
  }
  return [whole]
}
