import pointInPolygon from 'point-in-polygon-hao'
import { orient2d } from 'robust-predicates'
import { MOST_VERTICES, type LonLat, type PolygonRing } from '../definitions/geofence.ts'
import { longitudeNear, unwrapRing } from './bounds.ts'

/** `field` names the vertex: `shape.coordinates[0][3]`. */
export type ShapeFault = { readonly field: string; readonly message: string }

/** The faults of polygons whose coordinates are in `field`; at most one per ring. */
export function faultsOfPolygons(
  polygons: readonly { readonly field: string; readonly rings: readonly PolygonRing[] }[],
): ShapeFault[] {
  const vertices = polygons
    .flatMap(({ rings }) => rings)
    .reduce((sum, ring) => sum + ring.length - 1, 0)
  if (vertices > MOST_VERTICES) {
    const message = `the shape must have at most ${MOST_VERTICES} vertices, and has ${vertices}`
    return [{ field: 'shape.coordinates', message }]
  }
  return polygons.flatMap(({ field, rings }) => faultsOfPolygon(rings, field))
}

function faultsOfPolygon(rings: readonly PolygonRing[], field: string): ShapeFault[] {
  const named = rings.map((ring, n) => ({ ring, field: `${field}[${n}]` }))
  const faults = named.flatMap(({ ring, field }) => faultOfRing(ring, field) ?? [])
  const [outer, ...holes] = named
  if (faults.length > 0 || outer === undefined) return faults
  if (holes.length === 0) return []
  const shell = unwrapRing(outer.ring)
  const around = edgesOf(shell)
  return holes.flatMap(({ ring, field }) => faultOfHole(ring, field, shell, around) ?? [])
}

function faultOfRing(ring: PolygonRing, field: string): ShapeFault | undefined {
  const last = ring.length - 1
  const [first, end] = [ring[0], ring[last]]
  if (first === undefined || end === undefined || !isSame(first, end)) {
    const message = `${field} must be closed: its last position must equal the first`
    return { field: `${field}[${Math.max(0, last)}]`, message }
  }
  if (new Set(ring.map(String)).size < 3) {
    return { field, message: `${field} must have at least three different positions` }
  }
  const halfTurn = ring.findIndex(([longitude], n) => {
    const next = ring[n + 1]
    return next !== undefined && Math.abs(longitudeNear(longitude, next[0]) - longitude) === 180
  })
  if (halfTurn !== -1) {
    const message = `the edge that starts at ${field}[${halfTurn}] must go less than 180° to the east or west`
    return { field: `${field}[${halfTurn}]`, message }
  }
  const whole = unwrapRing(ring)
  if (whole[0]?.[0] !== whole[last]?.[0]) {
    return { field, message: `${field} must not go around a pole` }
  }
  const longitudes = whole.map(([longitude]) => longitude)
  const [west, east] = [Math.min(...longitudes), Math.max(...longitudes)]
  if (east - west > 180) {
    const vertex = `${field}[${longitudes.indexOf(east)}]`
    return { field: vertex, message: `${field} must not be wider than 180°` }
  }
  const crossing = findCrossing(edgesOf(whole))
  if (crossing === undefined) return undefined
  const [one, other] = crossing
  const message = `the edges that start at ${field}[${one}] and ${field}[${other}] must not meet: a ring must not cross or touch itself`
  return { field: `${field}[${other}]`, message }
}

/** A hole may touch the outer ring, but not cross it. */
function faultOfHole(
  hole: PolygonRing,
  field: string,
  shell: PolygonRing,
  around: Edges,
): ShapeFault | undefined {
  const [[first] = [0]] = shell
  const inner = unwrapRing(hole)
  const [[begin] = [0]] = inner
  const turn = [longitudeNear(first, begin) - begin, 0, 360, -360].find(
    (turn) => findIndexOutside(shiftRing(inner, turn), shell) === -1,
  )
  const outside = findIndexOutside(shiftRing(inner, turn ?? 0), shell)
  if (outside !== -1) {
    const vertex = `${field}[${outside}]`
    return {
      field: vertex,
      message: `${vertex} must be inside the outer ring, of which it is a hole`,
    }
  }
  const own = edgesOf(shiftRing(inner, turn ?? 0))
  const leaving = own.at.findIndex((_, n) =>
    around.at.some((_, other) => cross(own, n, around, other)),
  )
  if (leaving === -1) return undefined
  const vertex = `${field}[${own.at[leaving]}]`
  const message = `the edge that starts at ${vertex} must not leave the outer ring`
  return { field: vertex, message }
}

function shiftRing(ring: PolygonRing, turn: number): PolygonRing {
  return turn === 0 ? ring : ring.map(([longitude, latitude]) => [longitude + turn, latitude])
}

function findIndexOutside(ring: PolygonRing, shell: PolygonRing): number {
  const contours = [shell.map(([longitude, latitude]) => [longitude, latitude])]
  return ring.findIndex(
    ([longitude, latitude]) => pointInPolygon([longitude, latitude], contours) === false,
  )
}

/**
 * A flat array with x and y of each edge's start and end, because up to all pairs of a thousand
 * edges are compared.
 */
type Edges = {
  readonly ends: Float64Array
  /** The number of each one's first position in the ring. */
  readonly at: readonly number[]
}

/** Without edges of zero length: many exports repeat a position. */
function edgesOf(ring: PolygonRing): Edges {
  const at: number[] = []
  const ends = new Float64Array(4 * ring.length)
  for (let n = 0; n + 1 < ring.length; n += 1) {
    const [from, to] = [ring[n]!, ring[n + 1]!]
    if (!isSame(from, to)) ends.set([...from, ...to], 4 * (at.push(n) - 1))
  }
  return { ends, at }
}

/**
 * Finds two edges of a ring that meet other than as neighbours: the first such edge, and the first
 * edge that it meets. From west to east, each edge is compared with those that start before it
 * ends.
 */
function findCrossing(edges: Edges): readonly [number, number] | undefined {
  const { ends, at } = edges
  const west = at.map((_, n) => Math.min(ends[4 * n]!, ends[4 * n + 2]!))
  const fromWest = at.map((_, n) => n).sort((a, b) => west[a]! - west[b]!)
  let first = Infinity
  let second = Infinity
  for (let place = 0; place < fromWest.length; place += 1) {
    const one = fromWest[place]!
    const east = Math.max(ends[4 * one]!, ends[4 * one + 2]!)
    for (let next = place + 1; next < fromWest.length; next += 1) {
      const other = fromWest[next]!
      if (west[other]! > east) break
      const n = Math.min(one, other)
      const m = Math.max(one, other)
      if (n > first || (n === first && m >= second) || !meets(edges, n, m)) continue
      first = n
      second = m
    }
  }
  return first === Infinity ? undefined : [at[first]!, at[second]!]
}

function meets({ ends, at }: Edges, n: number, other: number): boolean {
  if (other === n + 1) return turnsBack(ends, n, other)
  if (n === 0 && other === at.length - 1) return turnsBack(ends, other, n)
  return touch(ends, n, other)
}

/** Whether the second of two neighbours overlaps the first. */
function turnsBack(ends: Float64Array, first: number, second: number): boolean {
  const [a, b] = [4 * first, 4 * second]
  const [ax, ay] = [ends[a + 2]! - ends[a]!, ends[a + 3]! - ends[a + 1]!]
  const [bx, by] = [ends[b + 2]! - ends[b]!, ends[b + 3]! - ends[b + 1]!]
  return ax * bx + ay * by < 0 && side(ends, first, ends[b + 2]!, ends[b + 3]!) === 0
}

/** Whether two edges have a point in common. */
function touch(ends: Float64Array, a: number, b: number): boolean {
  return (
    sides(ends, a, ends, b) <= 0 &&
    sides(ends, b, ends, a) <= 0 &&
    overlap(ends, a, b, 0) &&
    overlap(ends, a, b, 1)
  )
}

/**
 * Whether two edges share a longitude (axis 0) or a latitude (axis 1): one may lie beyond the
 * other, on its line.
 */
function overlap(ends: Float64Array, a: number, b: number, axis: 0 | 1): boolean {
  const [a0, a1] = [ends[4 * a + axis]!, ends[4 * a + axis + 2]!]
  const [b0, b1] = [ends[4 * b + axis]!, ends[4 * b + axis + 2]!]
  return Math.min(a0, a1) <= Math.max(b0, b1) && Math.min(b0, b1) <= Math.max(a0, a1)
}

/** Whether each of two edges has an end on either side of the other. */
function cross(a: Edges, n: number, b: Edges, m: number): boolean {
  return sides(a.ends, n, b.ends, m) < 0 && sides(b.ends, m, a.ends, n) < 0
}

/**
 * Negative if the ends of another edge are on different sides of an edge, positive if they are on
 * the same side.
 */
function sides(ends: Float64Array, n: number, others: Float64Array, m: number): number {
  const at = 4 * m
  return (
    side(ends, n, others[at]!, others[at + 1]!) * side(ends, n, others[at + 2]!, others[at + 3]!)
  )
}

function side(ends: Float64Array, n: number, x: number, y: number): number {
  const at = 4 * n
  return Math.sign(orient2d(ends[at]!, ends[at + 1]!, ends[at + 2]!, ends[at + 3]!, x, y))
}

function isSame(a: LonLat, b: LonLat): boolean {
  return a[0] === b[0] && a[1] === b[1]
}
