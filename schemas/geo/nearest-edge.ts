import type { LonLat, PolygonRing } from '../definitions/geofence.ts'
import { EARTH_RADIUS_METRES, radians } from './distance.ts'
import { distance, length, earthPointOf, type EarthPoint } from './earth-point.ts'

/** A part of an area's edge, prepared for many look-ups. */
export type Edge = {
  readonly from: LonLat
  readonly east: number
  readonly north: number
  readonly begin: EarthPoint
  readonly end: EarthPoint
  /** At least its length. */
  readonly metres: number
}

/** The edges between the positions of a line whose longitudes do not jump. */
export function edgesOf(ring: PolygonRing): readonly Edge[] {
  const points = ring.map(([longitude, latitude]) => earthPointOf(latitude, longitude))
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

/** The distance from the nearest edge, or `atMost` if that is less. */
export function measureToNearest(
  edges: readonly Edge[],
  point: EarthPoint,
  atMost: number,
): number {
  let nearest = atMost
  for (const edge of edges) {
    const { begin, end, metres } = edge
    // No point of the edge is nearer than this.
    const least = (straight(point, begin) + straight(point, end) - metres) / 2
    if (least < nearest) nearest = Math.min(nearest, measureToEdge(edge, point))
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
 * The distance from an edge, which is not a great circle: the nearest of points a degree apart,
 * then a golden-section search on both sides of it.
 */
function measureToEdge(
  { from: [longitude, latitude], east, north }: Edge,
  point: EarthPoint,
): number {
  const at = (part: number) =>
    distance(point, earthPointOf(latitude + north * part, longitude + east * part))
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
