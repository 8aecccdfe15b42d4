import { geoArea, geoEquirectangular, geoPath, type GeoContext } from 'd3-geo'
import type { MultiPolygon, Polygon, Position } from 'geojson'

const HALF_SPHERE = 2 * Math.PI

/**
 * Converts areas on the sphere to areas on a plane of longitude and latitude. world-atlas joins
 * areas on both sides of 180°, so its rings may run across the whole plane: here they are cut
 * there.
 */
export function toPlanar(area: Polygon | MultiPolygon): MultiPolygon {
  const polygons = area.type === 'Polygon' ? [area.coordinates] : area.coordinates
  const coordinates = polygons.flatMap((rings) => cut(outerFirst(rings).map(windAsOnSphere)))
  return { type: 'MultiPolygon', coordinates }
}

/** In the 50m file Antarctica's outer ring runs around the pole, and its coast is the hole. */
function outerFirst(rings: Position[][]): Position[][] {
  const enclosed = (ring: Position[]) => {
    const area = geoArea({ type: 'Polygon', coordinates: [ring] })
    return Math.min(area, 2 * HALF_SPHERE - area)
  }
  return rings.length === 1 ? rings : rings.toSorted((a, b) => enclosed(b) - enclosed(a))
}

/**
 * On the sphere a ring's direction determines its inside. In the 10m file some are inverted: an
 * outer ring would enclose all but the land, a hole all but the lake.
 */
function windAsOnSphere(ring: Position[], index: number): Position[] {
  const isLarge = geoArea({ type: 'Polygon', coordinates: [ring] }) > HALF_SPHERE
  const isHole = index > 0
  return isLarge === isHole ? ring : [...ring].reverse()
}

/** Cuts one polygon; parts on both sides of 180° become several rings. */
function cut(rings: Position[][]): Position[][][] {
  const found: Position[][] = []
  let ring: Position[] = []
  const close = () => {
    const [first] = ring
    if (first !== undefined && ring.length > 2) found.push([...ring, first])
    ring = []
  }
  const context: GeoContext = {
    beginPath: () => undefined,
    arc: () => undefined,
    moveTo(x, y) {
      ring = [[x, -y]]
    },
    lineTo: (x, y) => void ring.push([x, -y]),
    closePath: close,
  }
  const degrees = geoEquirectangular()
    .scale(180 / Math.PI)
    .translate([0, 0])
    .precision(0)
  geoPath(degrees, context)({ type: 'Polygon', coordinates: rings })
  return nest(found)
}

/** Outer rings with the holes inside them; d3 returns them one after the other. */
function nest(rings: Position[][]): Position[][][] {
  const isHole = (ring: Position[]) => signedArea(ring) < 0
  const polygons = rings.filter((ring) => !isHole(ring)).map((outer) => [outer])
  for (const hole of rings.filter(isHole)) {
    const around = polygons.find(([outer]) => contains(outer ?? [], hole[0] ?? [0, 0]))
    ;(around ?? polygons[0])?.push(hole)
  }
  return polygons
}

/** Positive for rings that run clockwise, as d3's outer rings do. */
function signedArea(ring: Position[]): number {
  let sum = 0
  for (let index = 1; index < ring.length; index += 1) {
    const [x1 = 0, y1 = 0] = ring[index - 1] ?? []
    const [x2 = 0, y2 = 0] = ring[index] ?? []
    sum += (x2 - x1) * (y2 + y1)
  }
  return sum / 2
}

/** Whether a point lies within a ring on the plane. */
export function contains(ring: Position[], [x = 0, y = 0]: Position): boolean {
  let inside = false
  for (let index = 1; index < ring.length; index += 1) {
    const [x1 = 0, y1 = 0] = ring[index - 1] ?? []
    const [x2 = 0, y2 = 0] = ring[index] ?? []
    if (y1 > y !== y2 > y && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1) inside = !inside
  }
  return inside
}
