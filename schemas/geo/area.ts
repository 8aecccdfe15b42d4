import pointInPolygon from 'point-in-polygon-hao'
import {
  polygonsOf,
  type CircleShape,
  type LonLat,
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
import { distance, length, placeOf, type EarthPoint } from './earth-point.ts'
import { longitudeNear, unwrapped } from './bounds.ts'

/** In degrees; west is never above east. */
export type Box = {
  readonly west: number
  readonly south: number
  readonly east: number
  readonly north: number
}

/** A circle or polygon, prepared for many questions. */
export type Area = {
  /** Boxes within ±180° that hold it together; two of what crosses the 180th meridian. */
  readonly boxes: readonly Box[]
  /** The shorter side of its bounding box. */
  readonly shorterSideMetres: number
  readonly squareMetres: number
  /** Its edge is part of it. */
  contains(place: Coordinates): boolean
  /** The distance from its edge, inside or outside, or `atMost` if that is less. */
  metresFromEdge(place: Coordinates, atMost: number): number
}

/** A multipolygon is several areas. */
export function areasOf(shape: GeofenceShape): readonly Area[] {
  return shape.type === 'circle' ? [circle(shape)] : polygonsOf(shape).map(polygon)
}

/** Boxes within ±180° that hold all places up to `radius` metres away. */
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
  // Around a pole it has every longitude.
  if (south <= -90 || north >= 90) {
    return { west: -180, south: Math.max(-90, south), east: 180, north: Math.min(90, north) }
  }
  const aside = degrees(Math.asin(Math.sin(reach) / Math.cos(radians(latitude))))
  return { west: longitude - aside, south, east: longitude + aside, north }
}

/** Its edges are straight in longitude and latitude, and go the short way round. */
function polygon(rings: readonly PolygonRing[]): Area {
  const [outer = [], ...holes] = rings.map(unwrapped)
  const box = boxOf(outer)
  const middle = (box.west + box.east) / 2
  const contours = [outer, ...holes.map((hole) => nextTo(hole, middle))].map((ring) =>
    ring.map(([longitude, latitude]) => [longitude, latitude]),
  )
  const latitude = (box.south + box.north) / 2
  // Few of thousands of geofences ever have a device near.
  let edges: readonly (readonly Edge[])[] | undefined
  return {
    boxes: withinHalfTurn(box),
    shorterSideMetres: Math.min(
      radians(box.north - box.south) * EARTH_RADIUS_METRES,
      metresBetween({ latitude, longitude: box.west }, { latitude, longitude: box.east }),
    ),
    squareMetres: holes.reduce((rest, hole) => rest - squareMetresIn(hole), squareMetresIn(outer)),
    contains({ latitude, longitude }) {
      return pointInPolygon([longitudeNear(middle, longitude), latitude], contours) !== false
    },
    metresFromEdge(place, atMost) {
      const point = placeOf(place.latitude, place.longitude)
      edges ??= rings.map((ring) => edgesOf(unwrapped(ring)))
      let nearest = atMost
      for (const ring of edges) nearest = nearestOf(ring, point, nearest)
      return nearest
    },
  }
}

/** On the sphere, between edges that are straight in longitude and latitude. */
function squareMetresIn(ring: PolygonRing): number {
  let sum = 0
  for (const [n, [east, north]] of ring.entries()) {
    const [west, south] = ring[n - 1] ?? [east, north]
    const half = radians(north - south) / 2
    const middle = Math.sin(radians(north + south) / 2)
    sum += radians(east - west) * middle * (half === 0 ? 1 : Math.sin(half) / half)
  }
  return Math.abs(sum) * EARTH_RADIUS_METRES ** 2
}

/** The ring a whole turn further, if that is nearer to the longitude. */
function nextTo(ring: PolygonRing, middle: number): PolygonRing {
  const { west, east } = boxOf(ring)
  const own = (west + east) / 2
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

/** Degrees, a tenth of a millimetre: rounding must not put a place beside the box of its area. */
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

type Edge = {
  readonly from: LonLat
  readonly east: number
  readonly north: number
  readonly begin: EarthPoint
  readonly end: EarthPoint
  /** No less than its length. */
  readonly metres: number
}

function edgesOf(ring: PolygonRing): readonly Edge[] {
  const points = ring.map(([longitude, latitude]) => placeOf(latitude, longitude))
  return ring.slice(1).map((to, n) => {
    const from = ring[n] as LonLat
    const [east, north] = [to[0] - from[0], to[1] - from[1]]
    return {
      from,
      east,
      north,
      begin: points[n] as EarthPoint,
      end: points[n + 1] as EarthPoint,
      metres: radians(Math.sqrt(east * east + north * north)) * EARTH_RADIUS_METRES,
    }
  })
}

function nearestOf(edges: readonly Edge[], point: EarthPoint, atMost: number): number {
  let nearest = atMost
  for (const edge of edges) {
    const { begin, end, metres } = edge
    // No point of the edge is nearer than this.
    const least = (straight(point, begin) + straight(point, end) - metres) / 2
    if (least < nearest) nearest = Math.min(nearest, fromEdge(edge, point))
  }
  return nearest
}

function straight(a: EarthPoint, b: EarthPoint): number {
  return length(a.x - b.x, a.y - b.y, a.z - b.z)
}

const GOLDEN = (Math.sqrt(5) - 1) / 2
/** Narrows a degree down to less than a millimetre. */
const MOST_STEPS = 40

/**
 * The distance from an edge, which is no great circle: the nearest of points a degree apart, then a golden-section
 * search on both sides of it.
 */
function fromEdge({ from: [longitude, latitude], east, north }: Edge, point: EarthPoint): number {
  const at = (part: number) =>
    distance(point, placeOf(latitude + north * part, longitude + east * part))
  const pieces = Math.max(1, Math.ceil(Math.max(Math.abs(east), Math.abs(north))))
  let best = 0
  let nearest = at(0)
  for (let n = 1; n <= pieces; n += 1) {
    const metres = at(n / pieces)
    if (metres < nearest) [nearest, best] = [metres, n]
  }
  let low = Math.max(0, best - 1) / pieces
  let high = Math.min(pieces, best + 1) / pieces
  let [left, right] = [high - (high - low) * GOLDEN, low + (high - low) * GOLDEN]
  let [fromLeft, fromRight] = [at(left), at(right)]
  for (let step = 0; step < MOST_STEPS; step += 1) {
    if (fromLeft < fromRight) {
      ;[high, right, fromRight] = [right, left, fromLeft]
      left = high - (high - low) * GOLDEN
      fromLeft = at(left)
    } else {
      ;[low, left, fromLeft] = [left, right, fromRight]
      right = low + (high - low) * GOLDEN
      fromRight = at(right)
    }
  }
  return Math.min(nearest, fromLeft, fromRight)
}
