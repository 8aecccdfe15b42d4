import Flatbush from 'flatbush'
import pointInPolygon from 'point-in-polygon-hao'
import { orient2d } from 'robust-predicates'
import { MOST_VERTICES, type LonLat, type PolygonRing } from '../geofence.ts'
import { longitudeNear, unwrapped } from './unwrapped.ts'

/** `field` names the vertex: `shape.coordinates[0][3]`. */
export type ShapeFault = { readonly field: string; readonly message: string }

/** What is wrong with polygons of which `field` has the coordinates; one fault for each ring at most. */
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
  const shell = unwrapped(outer.ring)
  return holes.flatMap(({ ring, field }) => faultOfHole(ring, field, shell) ?? [])
}

function faultOfRing(ring: PolygonRing, field: string): ShapeFault | undefined {
  const last = ring.length - 1
  const [first, end] = [ring[0], ring[last]]
  if (first === undefined || end === undefined || !isSame(first, end)) {
    const message = `${field} must be closed: its last position is the first one again`
    return { field: `${field}[${Math.max(0, last)}]`, message }
  }
  if (new Set(ring.map(String)).size < 3) {
    return { field, message: `${field} must have three different positions at least` }
  }
  const halfTurn = ring.findIndex(([longitude], n) => {
    const next = ring[n + 1]
    return next !== undefined && Math.abs(longitudeNear(longitude, next[0]) - longitude) === 180
  })
  if (halfTurn !== -1) {
    const message = `the edge that begins at ${field}[${halfTurn}] must go less than 180° to the east or west`
    return { field: `${field}[${halfTurn}]`, message }
  }
  const whole = unwrapped(ring)
  if (whole[0]?.[0] !== whole[last]?.[0]) {
    return { field, message: `${field} must not go around a pole` }
  }
  const longitudes = whole.map(([longitude]) => longitude)
  const [west, east] = [Math.min(...longitudes), Math.max(...longitudes)]
  if (east - west > 180) {
    const vertex = `${field}[${longitudes.indexOf(east)}]`
    return { field: vertex, message: `${field} must not be wider than 180°` }
  }
  const crossing = crossingOf(edgesOf(whole))
  if (crossing === undefined) return undefined
  const [one, other] = crossing
  const message = `the edges that begin at ${field}[${one}] and ${field}[${other}] must not meet: a ring must not cross or touch itself`
  return { field: `${field}[${other}]`, message }
}

/** A hole may touch the outer ring, but not cross it. */
function faultOfHole(hole: PolygonRing, field: string, shell: PolygonRing): ShapeFault | undefined {
  const [[first] = [0]] = shell
  const inner = unwrapped(hole)
  const [[begin] = [0]] = inner
  const turn = [longitudeNear(first, begin) - begin, 0, 360, -360].find(
    (turn) => outsideAt(moved(inner, turn), shell) === -1,
  )
  const outside = outsideAt(moved(inner, turn ?? 0), shell)
  if (outside !== -1) {
    const vertex = `${field}[${outside}]`
    return {
      field: vertex,
      message: `${vertex} must be inside the outer ring, of which it is a hole`,
    }
  }
  const around = edgesOf(shell)
  const leaving = edgesOf(moved(inner, turn ?? 0)).find((edge) =>
    around.some((other) => cross(edge, other)),
  )
  if (leaving === undefined) return undefined
  const vertex = `${field}[${leaving.at}]`
  const message = `the edge that begins at ${vertex} must not leave the outer ring`
  return { field: vertex, message }
}

function moved(ring: PolygonRing, turn: number): PolygonRing {
  return turn === 0 ? ring : ring.map(([longitude, latitude]) => [longitude + turn, latitude])
}

function outsideAt(ring: PolygonRing, shell: PolygonRing): number {
  const contours = [shell.map(([longitude, latitude]) => [longitude, latitude])]
  return ring.findIndex(
    ([longitude, latitude]) => pointInPolygon([longitude, latitude], contours) === false,
  )
}

/** `at`: the number of its first position in the ring. */
type Edge = { readonly at: number; readonly from: LonLat; readonly to: LonLat }

/** Without those of no length: many exports repeat a position. */
function edgesOf(ring: PolygonRing): readonly Edge[] {
  return ring.flatMap((from, at) => {
    const to = ring[at + 1]
    return to === undefined || isSame(from, to) ? [] : [{ at, from, to }]
  })
}

/** Two edges of a ring that meet elsewhere than neighbours do. */
function crossingOf(edges: readonly Edge[]): readonly [number, number] | undefined {
  const index = new Flatbush(edges.length)
  for (const { from, to } of edges) {
    index.add(
      Math.min(from[0], to[0]),
      Math.min(from[1], to[1]),
      Math.max(from[0], to[0]),
      Math.max(from[1], to[1]),
    )
  }
  index.finish()
  for (const [n, edge] of edges.entries()) {
    const { from, to } = edge
    const found = index.search(
      Math.min(from[0], to[0]),
      Math.min(from[1], to[1]),
      Math.max(from[0], to[0]),
      Math.max(from[1], to[1]),
      (other) => other > n && meets(edges, n, other),
    )
    const other = found.sort((a, b) => a - b)[0]
    if (other !== undefined) return [edge.at, edges[other]?.at ?? 0]
  }
  return undefined
}

function meets(edges: readonly Edge[], n: number, other: number): boolean {
  const [a, b] = [edges[n], edges[other]]
  if (a === undefined || b === undefined) return false
  if (other === n + 1) return goesBack(a, b)
  if (n === 0 && other === edges.length - 1) return goesBack(b, a)
  return touch(a, b)
}

/** Whether the second of two neighbours lies on the first. */
function goesBack(first: Edge, second: Edge): boolean {
  if (side(first, second.to) !== 0) return false
  const along =
    (first.to[0] - first.from[0]) * (second.to[0] - second.from[0]) +
    (first.to[1] - first.from[1]) * (second.to[1] - second.from[1])
  return along < 0
}

/** Whether two edges whose boxes overlap have a point in common. */
function touch(a: Edge, b: Edge): boolean {
  return side(a, b.from) * side(a, b.to) <= 0 && side(b, a.from) * side(b, a.to) <= 0
}

/** Whether each of two edges has an end on either side of the other. */
function cross(a: Edge, b: Edge): boolean {
  return side(a, b.from) * side(a, b.to) < 0 && side(b, a.from) * side(b, a.to) < 0
}

function side({ from, to }: Edge, [x, y]: LonLat): number {
  return Math.sign(orient2d(from[0], from[1], to[0], to[1], x, y))
}

function isSame(a: LonLat, b: LonLat): boolean {
  return a[0] === b[0] && a[1] === b[1]
}
