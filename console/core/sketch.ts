import { degrees, EARTH_RADIUS_METRES, metresBetween, radians } from '../../schemas/geo/distance.ts'
import { polygonsOf, type GeofenceShape, type LonLat } from '../../schemas/definitions/geofence.ts'
import type { components } from '../api/schema.ts'
import { countText, lengthText, METRIC, type Units } from './measures.ts'

export type { LonLat }

/** The area of a geofence while it is drawn. Rings are open: the first corner is not repeated. */
export type Sketch =
  | { readonly type: 'circle'; readonly centre: LonLat | undefined; readonly radius: number }
  | {
      readonly type: 'area'
      readonly polygons: readonly (readonly (readonly LonLat[])[])[]
      /** Whether the next click adds a corner. */
      readonly isDrawing: boolean
    }

export const NEW_CIRCLE: Sketch = { type: 'circle', centre: undefined, radius: 200 }
export const NEW_AREA: Sketch = { type: 'area', polygons: [[[]]], isDrawing: true }

/** The radii that the service accepts. */
const RADIUS_METRES = [10, 1_000_000] as const
const LEAST_CORNERS = 3

type ApiShape = GeofenceShape | components['schemas']['Shape']

export function sketchOf(apiShape: ApiShape): Sketch {
  const shape = apiShape as GeofenceShape
  if (shape.type === 'circle') {
    const { longitude, latitude, radius } = shape
    return { type: 'circle', centre: [longitude, latitude], radius }
  }
  const polygons = polygonsOf(shape).map((rings) => rings.map((ring) => ring.slice(0, -1)))
  return { type: 'area', polygons, isDrawing: false }
}

/** Undefined while something is missing. */
export function buildShape(sketch: Sketch): GeofenceShape | undefined {
  if (sketch.type === 'circle') {
    if (sketch.centre === undefined) return undefined
    const [longitude, latitude] = roundPosition(sketch.centre)
    return { type: 'circle', latitude, longitude, radius: sketch.radius }
  }
  const polygons = sketch.polygons.map((rings) => rings.map(closeRing))
  if (polygons.flat().some((ring) => ring.length <= LEAST_CORNERS)) return undefined
  const [first] = polygons
  return polygons.length === 1 && first !== undefined
    ? { type: 'Polygon', coordinates: first }
    : { type: 'MultiPolygon', coordinates: polygons }
}

/** A draggable point of a sketch. `index` counts the corners of all rings. */
export type Handle = {
  readonly kind: 'corner' | 'between' | 'edge' | 'whole'
  readonly at: LonLat
  readonly index: number
}

/** The handles of a sketch; where several coincide, the last is on top. */
export function handlesOf(sketch: Sketch): readonly Handle[] {
  if (sketch.type === 'circle') {
    if (sketch.centre === undefined) return []
    return [
      { kind: 'edge', at: movePoint(sketch.centre, sketch.radius, 90), index: 0 },
      { kind: 'whole', at: sketch.centre, index: 0 },
    ]
  }
  let index = 0
  const handles: Handle[] = []
  for (const ring of sketch.polygons.flat()) {
    for (const [n, at] of ring.entries()) {
      const next = ring[(n + 1) % ring.length] ?? at
      const middle = [(at[0] + near(next[0], at[0])) / 2, (at[1] + next[1]) / 2] as const
      if (!sketch.isDrawing) handles.push({ kind: 'between', at: middle, index })
      handles.push({ kind: 'corner', at, index })
      index += 1
    }
  }
  const [corner, ...others] = sketch.polygons[0]?.[0] ?? []
  if (corner !== undefined && !sketch.isDrawing) {
    const mean = (part: 0 | 1) =>
      others.reduce((sum, one) => sum + near(one[part], corner[part]), corner[part]) /
      (others.length + 1)
    handles.push({ kind: 'whole', at: [mean(0), mean(1)], index })
  }
  return handles
}

/** The sketch after a handle was dragged from its position in `sketch` to another. */
export function dragHandle(sketch: Sketch, { kind, at, index }: Handle, to: LonLat): Sketch {
  if (sketch.type === 'circle') {
    if (kind === 'whole' || sketch.centre === undefined) return { ...sketch, centre: to }
    return { ...sketch, radius: radiusFrom(sketch.centre, to) }
  }
  if (kind === 'whole') {
    const [east, north] = [to[0] - at[0], to[1] - at[1]]
    return changeCorners(sketch, ([longitude, latitude]) => [[longitude + east, latitude + north]])
  }
  return changeCorners(sketch, (corner, n) => {
    if (n !== index) return [corner]
    return kind === 'corner' ? [to] : [corner, to]
  })
}

/** Removes the corner; a ring keeps at least three. */
export function removeCorner(sketch: Sketch, index: number): Sketch {
  return changeCorners(sketch, (corner, n, ring) =>
    n === index && (ring.length > LEAST_CORNERS || (sketch.type === 'area' && sketch.isDrawing))
      ? []
      : [corner],
  )
}

/** The sketch after a click on the map while drawing; a click on the first corner closes it. */
export function clickSketch(sketch: Sketch, at: LonLat): Sketch {
  if (sketch.type === 'circle') return { ...sketch, centre: at }
  const [[ring = []] = []] = sketch.polygons
  return { ...sketch, polygons: [[[...ring, at]]] }
}

/** The sketch when drawing ends. */
export function closeSketch(sketch: Sketch): Sketch {
  return sketch.type === 'area' && canFinish(sketch) ? { ...sketch, isDrawing: false } : sketch
}

export function canFinish(sketch: Sketch): boolean {
  return sketch.type === 'area' && sketch.isDrawing && buildShape(sketch) !== undefined
}

export function radiusFrom(centre: LonLat, to: LonLat): number {
  const metres = metresBetween(coordinates(centre), coordinates(to))
  return Math.round(Math.max(RADIUS_METRES[0], Math.min(RADIUS_METRES[1], metres)))
}

const CIRCLE_CORNERS = 72

/** The drawn rings of a shape; a circle's rings approximate it. */
export function ringsOf(sketch: Sketch): readonly (readonly LonLat[])[] {
  if (sketch.type === 'area') return sketch.polygons.flat()
  const { centre, radius } = sketch
  if (centre === undefined) return []
  return [
    Array.from({ length: CIRCLE_CORNERS }, (_, n) =>
      movePoint(centre, radius, (n * 360) / CIRCLE_CORNERS),
    ),
  ]
}

/** `Circle of 200 m`, `7 corners`, `3 areas, 240 corners`. */
export function shapeText(apiShape: ApiShape, units: Units = METRIC): string {
  const shape = apiShape as GeofenceShape
  if (shape.type === 'circle') return `Circle of ${lengthText(shape.radius, units)}`
  const polygons = polygonsOf(shape)
  const corners = polygons.flat().reduce((sum, ring) => sum + ring.length - 1, 0)
  const words = countText(corners, 'corner', units)
  return polygons.length === 1 ? words : `${countText(polygons.length, 'area', units)}, ${words}`
}

/** Points as `latitude, longitude`, one per line, as other programs write them. */
export function formatCorners(places: readonly LonLat[]): string {
  return places
    .map(roundPosition)
    .map(([longitude, latitude]) => `${latitude}, ${longitude}`)
    .join('\n')
}

/** Undefined if a line is not a point on earth. */
export function parseCorners(text: string): readonly LonLat[] | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const places = lines.map((line): LonLat => {
    const numbers = line.trim().split(/\s*[,;\s]\s*/)
    const [latitude = NaN, longitude = NaN] = numbers.length === 2 ? numbers.map(Number) : []
    return [longitude, latitude]
  })
  const isPlace = ([longitude, latitude]: LonLat) =>
    Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180
  return places.every(isPlace) ? places : undefined
}

type ChangeCorner = (corner: LonLat, n: number, ring: readonly LonLat[]) => readonly LonLat[]

function changeCorners(sketch: Sketch, change: ChangeCorner): Sketch {
  if (sketch.type === 'circle') return sketch
  let n = -1
  const polygons = sketch.polygons.map((rings) =>
    rings.map((ring) => ring.flatMap((corner) => change(corner, (n += 1), ring))),
  )
  return { ...sketch, polygons }
}

/** The point in a direction from another, along the great circle. */
function movePoint(from: LonLat, metres: number, direction: number): LonLat {
  const [longitude, latitude] = [radians(from[0]), radians(from[1])]
  const [angle, turn] = [metres / EARTH_RADIUS_METRES, radians(direction)]
  const sine =
    Math.sin(latitude) * Math.cos(angle) + Math.cos(latitude) * Math.sin(angle) * Math.cos(turn)
  const east = Math.atan2(
    Math.sin(turn) * Math.sin(angle) * Math.cos(latitude),
    Math.cos(angle) - Math.sin(latitude) * sine,
  )
  return [degrees(longitude + east), degrees(Math.asin(sine))]
}

/** Shifts a longitude by full turns to within half a turn of another. */
function near(longitude: number, other: number): number {
  return longitude + 360 * Math.round((other - longitude) / 360)
}

function closeRing(ring: readonly LonLat[]): readonly LonLat[] {
  const corners = ring.map(roundPosition)
  return corners.slice(0, 1).reduce((all, first) => [...all, first], corners)
}

/** Rounded to a few centimetres, and within ±180°. */
function roundPosition([longitude, latitude]: LonLat): LonLat {
  return [round(near(longitude, 0)), round(latitude)]
}

function round(degrees: number): number {
  return Math.round(degrees * 1e6) / 1e6
}

function coordinates([longitude, latitude]: LonLat) {
  return { longitude, latitude }
}
