import type OlMap from 'ol/Map.js'
import { drawDevice, type DrawnDevice } from './draw-device.ts'
import { drawLabels, placeLabels } from './draw-label.ts'
import { drawPlaces, type PaintedPlace } from './draw-places.ts'
import { CLEAR, drawLine, isApart, partOf, type DrawnLine, type TimeRange } from './draw-track.ts'
import { MapCanvas, type MapView } from './map-canvas.ts'
import { speedColour } from './speed-scale.ts'
import { palette } from '../ui/palette.ts'
import { toMercator } from '../../schemas/geo/mercator.ts'
import { headingOf } from '../core/motion.ts'
import { positionAlong, pointAt, type TrackPoint } from '../core/track.ts'
import type { Episode } from '../core/trips.ts'

/** How far from the line a click may be. */
const REACH_PIXELS = 14

/** The lines of many days overlap. */
const RANGE_WIDTH = 2
const RANGE_ALPHA = 0.35
/** The rest of a track of which a part is selected. */
const FADED = 0.25

export type PaintedTrack = DrawnLine & {
  /**
   * The points of the whole range, if `points` are a finer part of it: the marker may be elsewhere.
   */
  readonly whole: readonly TrackPoint[]
  /** The step of speed from colour to colour. */
  readonly speedStep: number
  /** Speeds over several days are meaningless: the line has one colour. */
  readonly isPlain: boolean
  /** The marker's time and status. */
  readonly at: number
  readonly status: DrawnDevice['status']
  /** The device's stops. */
  readonly stops: readonly Pick<Extract<Episode, { kind: 'stop' }>, 'position'>[]
  /** The time range whose part of the track is highlighted. */
  readonly selected: TimeRange | undefined
  /** How much of the path behind the marker is shown in a replay. */
  readonly tailMs: number | undefined
  /** Other devices replayed with it. */
  readonly others: readonly {
    readonly deviceId: string
    readonly name: string
    readonly points: readonly TrackPoint[]
  }[]
  /** Places visited, drawn for a range instead of the stops. */
  readonly places: readonly PaintedPlace[]
}

/** A track below the names of a map, and its stops and the time cursor above them. */
export class TrackPainter {
  readonly #canvas: MapCanvas
  readonly #marker: MapCanvas
  #track: PaintedTrack | undefined
  #project: MapView['project'] | undefined

  /** @param choose is called with the time of the point on the track that was clicked. */
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

  #draw(context: CanvasRenderingContext2D, view: MapView): void {
    const track = this.#track
    this.#project = view.project
    if (track === undefined) return
    const { at, tailMs, others, isPlain } = track
    const lit = tailMs === undefined ? track.selected : { from: at - tailMs, to: at }
    const colour = isPlain
      ? () => palette.peek().accent
      : (speed: number | undefined) => speedColour(speed ?? 0, track.speedStep)
    const whole = { points: track.points, speeds: track.speeds }
    const faded = { isCased: false, width: isPlain ? RANGE_WIDTH : CLEAR.width, colour }
    if (lit === undefined && !isPlain) drawLine(context, whole, view, { ...CLEAR, colour })
    else drawLine(context, whole, view, { ...faded, alpha: lit ? FADED : RANGE_ALPHA })
    if (lit !== undefined) drawLine(context, partOf(whole, lit), view, { ...CLEAR, colour })
    for (const { points } of others) {
      const own = { points, speeds: [] }
      const part = lit === undefined ? own : partOf(own, lit)
      const alpha = lit === undefined ? RANGE_ALPHA : 1
      const style = { alpha, isCased: false, width: 3, colour: () => palette.peek().text }
      drawLine(context, part, view, style)
    }
  }

  #drawMarker(context: CanvasRenderingContext2D, { project, width }: MapView): void {
    const track = this.#track
    if (track === undefined) return
    const { points, isPlain, at, others } = track
    const pixelOf = ({ position }: Pick<PaintedPlace, 'position'>) =>
      project(toMercator(position.longitude, position.latitude))
    if (isPlain) drawPlaces(context, track.places, pixelOf)
    else for (const stop of track.stops) stopMark(context, ...pixelOf(stop))
    const labels = others.flatMap(({ name, points: own }) => {
      const here = positionAlong(own, at)
      if (here === undefined) return []
      const [x, y] = project(here)
      const marker = { status: 'past', heading: headingOf(here) } as const
      drawDevice(context, x, y, marker, palette.peek())
      return [{ x, y, text: name, isWanted: true }]
    })
    const placed = placeLabels(context, labels, { viewWidth: width, obstacles: [], boxes: [] })
    drawLabels(context, placed, palette.peek())
    const here = positionAlong(isWithin(points, at) ? points : track.whole, at)
    if (here === undefined) return
    const [x, y] = project(here)
    const heading = headingOf(here)
    const marker = { status: track.status, heading, isSelected: true }
    drawDevice(context, x, y, marker, palette.peek())
  }
}

/** Whether the points show where the device was at a time. */
function isWithin(points: readonly TrackPoint[], at: number): boolean {
  const [last, next] = [points[pointAt(points, at)], points[pointAt(points, at) + 1]]
  return last !== undefined && last.at <= at && next !== undefined && next.after !== 'outside'
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
