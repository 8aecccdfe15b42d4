import type { MapView } from './map-canvas.ts'
import { palette } from '../ui/palette.ts'
import { positionAlong, pointAt, type TrackPoint } from '../core/track.ts'

/** Minimum distance between two arrows, along the line and across it. */
const ARROW_PIXELS = 80

export type DrawnLine = {
  readonly points: readonly TrackPoint[]
  /** The speed at each point, which determines its colour. */
  readonly speeds: readonly (number | undefined)[]
}
export type TimeRange = { readonly from: number; readonly to: number }
export type LineStyle = {
  readonly alpha: number
  readonly width: number
  /** Whether the line has a white edge and direction arrows. */
  readonly isCased: boolean
  readonly colour: (speed: number | undefined) => string
}

/** The part of a track in a time range, up to where the device was at its end. */
export function partOf({ points, speeds }: DrawnLine, { from, to }: TimeRange): DrawnLine {
  const first = points.findIndex(({ at }) => at >= from)
  if (first < 0) return { points: [], speeds: [] }
  const end = pointAt(points, to) + 1
  const next = points[end]
  const part = { points: points.slice(first, end), speeds: speeds.slice(first, end + 1) }
  const here = positionAlong(points, to)
  if (next === undefined || here === undefined || isApart(next)) return part
  return { ...part, points: [...part.points, { ...next, ...here }] }
}

/**
 * Draws a line from point to point; other days of a range are separate strokes, so that frequent
 * routes are darker.
 */
export function drawLine(
  context: CanvasRenderingContext2D,
  { points, speeds }: DrawnLine,
  { project, width, height }: MapView,
  style: LineStyle,
): void {
  const { line, ring } = palette.peek()
  if (style.isCased) casing(context, points, project, ring)
  context.globalAlpha = style.alpha
  const pen = new Pen(context)
  const arrows: (readonly [x: number, y: number, angle: number])[] = []
  let sinceArrow = ARROW_PIXELS / 2
  for (let index = 1; index < points.length; index += 1) {
    const [from, to] = [points[index - 1], points[index]]
    if (from === undefined || to === undefined || to.after === 'outside') continue
    const [x1, y1] = project(from)
    const [x2, y2] = project(to, from)
    if (Math.max(x1, x2) < 0 || Math.min(x1, x2) > width) continue
    if (Math.max(y1, y2) < 0 || Math.min(y1, y2) > height) continue
    if (!style.isCased && Math.floor(from.at / DAY_MS) !== Math.floor(to.at / DAY_MS)) pen.lift()
    const dash = to.after === 'gap' ? GAP : to.after === 'silence' ? SILENCE : LINE
    pen.line([x1, y1, x2, y2], {
      dash: dash.dash,
      width: Math.min(dash.width, style.width),
      colour: to.after === 'gap' ? line : style.colour(speeds[index]),
    })
    const length = Math.hypot(x2 - x1, y2 - y1)
    if (to.after !== undefined || !style.isCased) continue
    sinceArrow += length
    if (sinceArrow < ARROW_PIXELS || length < 3) continue
    const [x, y] = [(x1 + x2) / 2, (y1 + y2) / 2]
    // Otherwise a return trip, or a walk in circles, would pile up arrows.
    if (arrows.some((one) => Math.hypot(one[0] - x, one[1] - y) < ARROW_PIXELS)) continue
    sinceArrow = 0
    arrows.push([x, y, Math.atan2(y2 - y1, x2 - x1)])
  }
  pen.lift()
  context.globalAlpha = 1
  for (const one of arrows) arrow(context, ...one)
}

/** Whether no line leads to the point from the one before. */
export function isApart({ after }: TrackPoint): boolean {
  return after === 'gap' || after === 'outside'
}

/** A white edge on both sides of the line, so that it stands out on any map. */
function casing(
  context: CanvasRenderingContext2D,
  points: readonly TrackPoint[],
  project: MapView['project'],
  colour: string,
): void {
  context.beginPath()
  let before: TrackPoint | undefined
  for (const point of points) {
    const pixel = project(point, before)
    if (before === undefined || point.after !== undefined) context.moveTo(...pixel)
    else context.lineTo(...pixel)
    before = point
  }
  context.lineCap = 'round'
  context.lineJoin = 'round'
  context.lineWidth = LINE.width + 2 * CASING
  context.strokeStyle = colour
  context.stroke()
}

type Line = readonly [x1: number, y1: number, x2: number, y2: number]

type Stroke = { readonly dash: readonly number[]; readonly width: number; readonly colour: string }

const DAY_MS = 86_400_000

const LINE = { dash: [], width: 4 }
/** A line that stands out. */
export const CLEAR = { alpha: 1, isCased: true, width: LINE.width }
const CASING = 1.5
/** The device went this way without reporting. */
const SILENCE = { dash: [0, 9], width: 4 }
/** The device's path is unknown. */
const GAP = { dash: [3, 6], width: 2 }

/** Draws successive lines of one style in one stroke: separate strokes take many times as long. */
class Pen {
  readonly #context: CanvasRenderingContext2D
  #stroke: Stroke | undefined
  #at: readonly [x: number, y: number] = [NaN, NaN]

  constructor(context: CanvasRenderingContext2D) {
    this.#context = context
  }

  line([x1, y1, x2, y2]: Line, stroke: Stroke): void {
    const [x, y] = this.#at
    if (stroke.colour !== this.#stroke?.colour || stroke.dash !== this.#stroke.dash) this.lift()
    if (this.#stroke === undefined) this.#context.beginPath()
    if (this.#stroke === undefined || x !== x1 || y !== y1) this.#context.moveTo(x1, y1)
    this.#context.lineTo(x2, y2)
    this.#stroke = stroke
    this.#at = [x2, y2]
  }

  lift(): void {
    const context = this.#context
    if (this.#stroke === undefined) return
    const { dash, width, colour } = this.#stroke
    this.#stroke = undefined
    context.lineCap = 'round'
    context.lineJoin = 'round'
    context.setLineDash([...dash])
    context.lineWidth = width
    context.strokeStyle = colour
    context.stroke()
    context.setLineDash([])
  }
}

function arrow(context: CanvasRenderingContext2D, x: number, y: number, angle: number): void {
  context.save()
  context.translate(x, y)
  context.rotate(angle)
  context.beginPath()
  context.moveTo(6, 0)
  context.lineTo(-4, 5)
  context.lineTo(-4, -5)
  context.closePath()
  context.fillStyle = palette.peek().surface
  context.strokeStyle = palette.peek().text
  context.lineWidth = 1
  context.fill()
  context.stroke()
  context.restore()
}
