import type OlMap from 'ol/Map.js'
import { toMercator, type MapPoint } from '../../schemas/geo/mercator.ts'
import { handlesOf, ringsOf, type Handle, type LonLat, type Sketch } from '../core/sketch.ts'
import { palette } from '../ui/palette.ts'
import { cut, LABEL_FONT } from './draw-label.ts'
import { MapCanvas, type MapView } from './map-canvas.ts'

export type PaintedGeofence = {
  readonly id: string
  readonly name: string
  readonly rings: readonly (readonly MapPoint[])[]
  readonly isEnabled: boolean
}

export type ShownGeofences = {
  readonly geofences: readonly PaintedGeofence[]
  readonly selectedId?: string | undefined
  /** The area being drawn, and its marked corner. */
  readonly sketch?: Sketch | undefined
  readonly marked?: number | undefined
}

type Pixel = readonly [x: number, y: number]
type PlacedHandle = readonly [handle: Handle, pixel: Pixel]

/** Narrower areas have no name on the map. */
const LEAST_NAMED_PIXELS = 36
/** A name is this far below the upper edge: devices are often in the middle. */
const NAME_PIXELS = 16
/** Smaller areas are drawn as dots. */
const DOT_PIXELS = 6
const TAU = 2 * Math.PI

/** The rings of a geofence or a sketch, on the map. */
export function pointsOf(sketch: Sketch): PaintedGeofence['rings'] {
  return ringsOf(sketch).map((ring) => ring.map(pointOf))
}

/** Geofences on a canvas over a map, and the one being drawn, with its handles. */
export class GeofencePainter {
  readonly #canvas: MapCanvas
  #shown: ShownGeofences = { geofences: [] }
  #areas: (readonly [id: string, path: Path2D])[] = []
  #handles: PlacedHandle[] = []
  #context: CanvasRenderingContext2D | undefined

  constructor(map: OlMap) {
    this.#canvas = new MapCanvas(map, (context, view) => this.#draw(context, view))
  }

  paint(shown: ShownGeofences): void {
    this.#shown = shown
    this.#canvas.paint()
  }

  /** The topmost geofence at a pixel. */
  geofenceAt([x = 0, y = 0]: readonly number[]): string | undefined {
    const { a: ratio = 1 } = this.#context?.getTransform() ?? {}
    const isAt = (path: Path2D) =>
      this.#context?.isPointInPath(path, x * ratio, y * ratio, 'evenodd') === true
    return this.#areas.findLast(([, path]) => isAt(path))?.[0]
  }

  /** The handle nearest to a pixel; corners take precedence over midpoints. */
  handleAt([x = 0, y = 0]: readonly number[], reach: number): Handle | undefined {
    const rank = ([handle, [left, top]]: PlacedHandle) =>
      Math.hypot(left - x, top - y) + (handle.kind === 'between' ? reach / 2 : 0)
    const near = this.#handles.filter((one) => rank(one) <= reach)
    return near.sort((a, b) => rank(a) - rank(b))[0]?.[0]
  }

  #draw(context: CanvasRenderingContext2D, { project, width }: MapView): void {
    const { geofences, selectedId, sketch, marked } = this.#shown
    const { accent, line, text, halo } = palette.peek()
    const { clientHeight: height } = context.canvas
    this.#context = context
    this.#areas = []
    context.font = LABEL_FONT
    context.textAlign = 'center'
    context.textBaseline = 'middle'
    for (const { id, name, rings, isEnabled } of geofences) {
      if (id === selectedId && sketch !== undefined) continue
      const box = boxOf(rings)
      const [left, top] = project(box.northWest)
      const [right, bottom] = project(box.southEast, box.northWest)
      if (right < 0 || left > width || bottom < 0 || top > height) continue
      const isDot = right - left < DOT_PIXELS && bottom - top < DOT_PIXELS
      const path = isDot
        ? createDotPath((left + right) / 2, (top + bottom) / 2)
        : pathOf(ringPixels(rings, project))
      this.#areas.push([id, path])
      paintArea(context, path, {
        colour: isEnabled ? accent : line,
        isStrong: id === selectedId,
        dash: isEnabled ? [] : [5, 4],
      })
      if (right - left < LEAST_NAMED_PIXELS) continue
      context.lineWidth = 3
      context.strokeStyle = halo
      context.fillStyle = text
      const at = [
        cut(name),
        (left + right) / 2,
        Math.min((top + bottom) / 2, top + NAME_PIXELS),
      ] as const
      context.strokeText(...at)
      context.fillText(...at)
    }
    this.#handles = []
    if (sketch === undefined) return
    const isOpen = sketch.type === 'area' && sketch.isDrawing
    const path = pathOf(ringPixels(pointsOf(sketch), project), !isOpen)
    paintArea(context, path, { colour: accent, isStrong: true, dash: [] })
    const handles = handlesOf(sketch)
    const [first] = handles
    for (const handle of handles) {
      const pixel = project(pointOf(handle.at), first && pointOf(first.at))
      this.#handles.push([handle, pixel])
      paintHandle(context, pixel, handle, handle.kind === 'corner' && handle.index === marked)
    }
  }
}

function paintArea(
  context: CanvasRenderingContext2D,
  path: Path2D,
  { colour, isStrong, dash }: { colour: string; isStrong: boolean; dash: number[] },
): void {
  context.fillStyle = context.strokeStyle = colour
  context.globalAlpha = isStrong ? 0.22 : 0.12
  context.fill(path, 'evenodd')
  context.globalAlpha = 1
  context.lineWidth = isStrong ? 3 : 1.5
  context.setLineDash(dash)
  context.stroke(path)
  context.setLineDash([])
}

function paintHandle(
  context: CanvasRenderingContext2D,
  [x, y]: Pixel,
  { kind }: Handle,
  isMarked: boolean,
): void {
  const { accent, surface } = palette.peek()
  context.beginPath()
  context.arc(x, y, kind === 'between' ? 4 : 7, 0, TAU)
  context.fillStyle = kind === 'whole' || isMarked ? accent : surface
  context.strokeStyle = kind === 'whole' || isMarked ? surface : accent
  context.lineWidth = 2
  context.fill()
  context.stroke()
}

/** Each ring is placed next to the first point, so that areas across 180° stay together. */
function ringPixels(rings: PaintedGeofence['rings'], project: MapView['project']): Pixel[][] {
  const beside = rings[0]?.[0]
  return rings.map((ring) => ring.map((point) => project(point, beside)))
}

function pathOf(rings: readonly (readonly Pixel[])[], isClosed = true): Path2D {
  const path = new Path2D()
  for (const ring of rings) {
    for (const [n, pixel] of ring.entries()) {
      if (n === 0) path.moveTo(...pixel)
      else path.lineTo(...pixel)
    }
    if (isClosed) path.closePath()
  }
  return path
}

function createDotPath(x: number, y: number): Path2D {
  const path = new Path2D()
  path.arc(x, y, DOT_PIXELS / 2, 0, TAU)
  return path
}

type Box = { readonly northWest: MapPoint; readonly southEast: MapPoint }

/** Cached: there may be thousands of geofences, most of them out of view. */
const boxes = new WeakMap<PaintedGeofence['rings'], Box>()

function boxOf(rings: PaintedGeofence['rings']): Box {
  const known = boxes.get(rings)
  if (known !== undefined) return known

  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity]
  for (const point of rings.flat()) {
    const { y } = point
    // Across 180° the corners are on both edges of the map.
    const x = point.x + Math.round((rings[0]?.[0]?.x ?? 0) - point.x)
    left = Math.min(left, x)
    top = Math.min(top, y)
    right = Math.max(right, x)
    bottom = Math.max(bottom, y)
  }
  const box = { northWest: { x: left, y: top }, southEast: { x: right, y: bottom } }
  boxes.set(rings, box)
  return box
}

function pointOf([longitude, latitude]: LonLat): MapPoint {
  return toMercator(longitude, latitude)
}
