import type OlMap from 'ol/Map.js'
import { drawDevice, type DrawnDevice } from './draw-device.ts'
import { MapCanvas, type MapView } from './map-canvas.ts'
import { speedColour } from './speed-scale.ts'
import { palette } from '../ui/palette.ts'
import { toMercator } from '../core/mercator.ts'
import { shownHeading } from '../core/motion.ts'
import { placeAt, pointAt, type TrackPoint } from '../core/track.ts'
import type { Episode } from '../core/trips.ts'

/** Between two arrows, along the line and across it. */
const ARROW_PIXELS = 80
/** How far from the line a click may be. */
const REACH_PIXELS = 14

export type PaintedTrack = {
  readonly points: readonly TrackPoint[]
  /** The points of the whole range, where `points` are a finer part of it: the marker may be elsewhere. */
  readonly whole: readonly TrackPoint[]
  /** The speed at each point by which it is coloured, and the step from colour to colour. */
  readonly speeds: readonly (number | undefined)[]
  readonly speedStep: number
  /** Speeds of several days say nothing: the line has one colour. */
  readonly isPlain: boolean
  /** The marker's time and status. */
  readonly at: number
  readonly status: DrawnDevice['status']
  /** The places where it stopped. */
  readonly stops: readonly Pick<Extract<Episode, { kind: 'stop' }>, 'position'>[]
  /** The time range whose part of the track is highlighted. */
  readonly selected: { readonly from: number; readonly to: number } | undefined
}

/** A track below the names of a map, and its stops and the time cursor above them. */
export class TrackPainter {
  readonly #canvas: MapCanvas
  readonly #marker: MapCanvas
  #track: PaintedTrack | undefined
  #project: MapView['project'] | undefined

  /** @param choose is called with the time of the place on the track that was clicked. */
  constructor(map: OlMap, choose: (at: number) => void) {
    this.#canvas = new MapCanvas(map, (context, view) => this.#draw(context, view), {
      isBelowNames: true,
    })
    this.#marker = new MapCanvas(map, (context, view) => this.#drawMarker(context, view))
    map.on('click', ({ pixel }) => {
      const at = this.#timeAt(pixel)
      if (at !== undefined) choose(at)
    })
    map.on('pointermove', ({ pixel, dragging }) => {
      const isOnTrack = !dragging && this.#timeAt(pixel) !== undefined
      map.getTargetElement()?.style.setProperty('cursor', isOnTrack ? 'pointer' : '')
    })
  }

  paint(track: PaintedTrack | undefined): void {
    this.#track = track
    this.#canvas.paint()
    this.#marker.paint()
  }

  /** The time at which the device was nearest to a pixel; the latest, if there are several. */
  #timeAt([x = 0, y = 0]: readonly number[]): number | undefined {
    const project = this.#project
    const points = this.#track?.points ?? []
    let nearest = REACH_PIXELS
    let found: number | undefined
    for (let index = points.length - 1; index >= 0; index -= 1) {
      const point = points[index]
      if (point === undefined || project === undefined) break
      const from = isApart(point) ? point : (points[index - 1] ?? point)
      const [x2, y2] = project(point)
      const [x1, y1] = from === point ? [x2, y2] : project(from, point)
      const [across, down] = [x2 - x1, y2 - y1]
      const along = ((x - x1) * across + (y - y1) * down) / (across * across + down * down || 1)
      const share = Math.max(0, Math.min(1, along))
      const away = Math.hypot(x1 + share * across - x, y1 + share * down - y)
      if (away >= nearest) continue
      nearest = away
      found = from.at + share * (point.at - from.at)
    }
    return found
  }

  #draw(context: CanvasRenderingContext2D, { project }: MapView): void {
    const track = this.#track
    this.#project = project
    if (track === undefined) return
    const { clientWidth: width, clientHeight: height } = context.canvas
    const { points, speeds, speedStep, isPlain } = track
    const { accent, line, ring } = palette.peek()
    if (track.selected !== undefined) halo(context, track, track.selected, project)
    casing(context, points, project, ring)
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
      const stroke =
        to.after === 'gap'
          ? { ...GAP, colour: line }
          : {
              ...(to.after === 'silence' ? SILENCE : LINE),
              colour: isPlain ? accent : speedColour(speeds[index] ?? 0, speedStep),
            }
      pen.line([x1, y1, x2, y2], stroke)
      const length = Math.hypot(x2 - x1, y2 - y1)
      if (to.after !== undefined) continue
      sinceArrow += length
      if (sinceArrow < ARROW_PIXELS || length < 3) continue
      const [x, y] = [(x1 + x2) / 2, (y1 + y2) / 2]
      // A way back, or a walk in circles, would pile them up.
      if (arrows.some((one) => Math.hypot(one[0] - x, one[1] - y) < ARROW_PIXELS)) continue
      sinceArrow = 0
      arrows.push([x, y, Math.atan2(y2 - y1, x2 - x1)])
    }
    pen.lift()
    for (const one of arrows) arrow(context, ...one)
  }

  #drawMarker(context: CanvasRenderingContext2D, { project }: MapView): void {
    const track = this.#track
    if (track === undefined) return
    const { points } = track
    for (const { position } of track.stops) {
      stopMark(context, ...project(toMercator(position.longitude, position.latitude)))
    }
    const here = placeAt(isWithin(points, track.at) ? points : track.whole, track.at)
    if (here === undefined) return
    const [x, y] = project(here)
    const heading = shownHeading(here)
    const marker = { status: track.status, heading, isSelected: true }
    drawDevice(context, x, y, marker, palette.peek())
  }
}

/** Whether no line leads to the point from the one before. */
function isApart({ after }: TrackPoint): boolean {
  return after === 'gap' || after === 'outside'
}

/** Whether the points show where the device was at a time. */
function isWithin(points: readonly TrackPoint[], at: number): boolean {
  const [last, next] = [points[pointAt(points, at)], points[pointAt(points, at) + 1]]
  return last !== undefined && last.at <= at && next !== undefined && next.after !== 'outside'
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

/** A broad line below the part of the track that is selected. */
function halo(
  context: CanvasRenderingContext2D,
  { points }: PaintedTrack,
  { from, to }: { readonly from: number; readonly to: number },
  project: MapView['project'],
): void {
  context.beginPath()
  let before: TrackPoint | undefined
  for (const point of points) {
    if (point.at < from || point.at > to) continue
    const pixel = project(point, before)
    if (before === undefined || isApart(point)) context.moveTo(...pixel)
    context.lineTo(...pixel)
    before = point
  }
  context.lineCap = 'round'
  context.lineJoin = 'round'
  context.lineWidth = 14
  context.globalAlpha = 0.35
  context.strokeStyle = palette.peek().accent
  context.stroke()
  context.globalAlpha = 1
}

type Line = readonly [x1: number, y1: number, x2: number, y2: number]

type Stroke = { readonly dash: readonly number[]; readonly width: number; readonly colour: string }

const LINE = { dash: [], width: 4 }
const CASING = 1.5
/** The device went this way without reporting. */
const SILENCE = { dash: [0, 9], width: 4 }
/** Nobody knows which way it went. */
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

function stopMark(context: CanvasRenderingContext2D, x: number, y: number): void {
  context.beginPath()
  context.rect(x - 4, y - 4, 8, 8)
  context.fillStyle = palette.peek().surface
  context.strokeStyle = palette.peek().text
  context.lineWidth = 2
  context.fill()
  context.stroke()
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
