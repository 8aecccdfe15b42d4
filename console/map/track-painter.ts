import type OlMap from 'ol/Map.js'
import { drawDevice } from './draw-device.ts'
import { MapCanvas, type MapView } from './map-canvas.ts'
import { palette } from '../ui/palette.ts'
import { placeAt, type Track, type TrackPoint } from '../core/track.ts'

/** From standing to the fastest speed of the day; distinguishable without red and green too. */
const SPEED_COLOURS = ['#3b4cc0', '#2c8ecb', '#26a884', '#c9a227', '#d1495b'] as const
const ARROW_PIXELS = 90

/** A track and the time cursor on a canvas over a map. */
export class TrackPainter {
  readonly #canvas: MapCanvas
  #track: Track | undefined
  #at = 0

  constructor(map: OlMap) {
    this.#canvas = new MapCanvas(map, (context, view) => this.#draw(context, view))
  }

  paint(track: Track | undefined, at: number): void {
    this.#track = track
    this.#at = at
    this.#canvas.paint()
  }

  #draw(context: CanvasRenderingContext2D, { project }: MapView): void {
    const track = this.#track
    if (track === undefined) return
    const { clientWidth: width, clientHeight: height } = context.canvas
    const fastest = Math.max(1, ...track.points.map(({ speed }) => speed ?? 0))
    const pen = new Pen(context)
    const arrows: (readonly [x: number, y: number, angle: number])[] = []
    let sinceArrow = ARROW_PIXELS / 2
    for (let index = 1; index < track.points.length; index += 1) {
      const [from, to] = [track.points[index - 1], track.points[index]]
      if (from === undefined || to === undefined) continue
      const [x1, y1] = project(from)
      const [x2, y2] = project(to, from)
      if (Math.max(x1, x2) < 0 || Math.min(x1, x2) > width) continue
      if (Math.max(y1, y2) < 0 || Math.min(y1, y2) > height) continue
      pen.line([x1, y1, x2, y2], colourOf(to, fastest))
      const length = Math.hypot(x2 - x1, y2 - y1)
      if (to.afterGap) continue
      sinceArrow += length
      if (sinceArrow < ARROW_PIXELS || length < 3) continue
      sinceArrow = 0
      arrows.push([(x1 + x2) / 2, (y1 + y2) / 2, Math.atan2(y2 - y1, x2 - x1)])
    }
    pen.lift()
    for (const one of arrows) arrow(context, ...one)
    const first = track.points[0]
    if (track.points.length === 1 && first !== undefined) dot(context, project(first))
    const here = placeAt(track.points, this.#at)
    if (here === undefined) return
    const [x, y] = project(here)
    const cursor = { status: 'online', heading: here.heading, isSelected: true } as const
    drawDevice(context, x, y, cursor, palette.peek())
  }
}

type Line = readonly [x1: number, y1: number, x2: number, y2: number]

/** Undefined for a gap. */
type Colour = string | undefined

/** Draws successive lines of one colour as one: a stroke for each takes many times as long. */
class Pen {
  readonly #context: CanvasRenderingContext2D
  #isDown = false
  #colour: Colour
  #at: readonly [x: number, y: number] = [NaN, NaN]

  constructor(context: CanvasRenderingContext2D) {
    this.#context = context
  }

  line([x1, y1, x2, y2]: Line, colour: Colour): void {
    const [x, y] = this.#at
    if (this.#isDown && colour !== this.#colour) this.lift()
    if (!this.#isDown) this.#context.beginPath()
    if (!this.#isDown || x !== x1 || y !== y1) this.#context.moveTo(x1, y1)
    this.#context.lineTo(x2, y2)
    this.#isDown = true
    this.#colour = colour
    this.#at = [x2, y2]
  }

  /** A gap is dashed: the path in it is unknown. */
  lift(): void {
    const context = this.#context
    if (!this.#isDown) return
    this.#isDown = false
    context.lineCap = 'round'
    context.lineJoin = 'round'
    context.setLineDash(this.#colour === undefined ? [3, 6] : [])
    context.lineWidth = this.#colour === undefined ? 2 : 4
    context.strokeStyle = this.#colour ?? palette.peek().line
    context.stroke()
    context.setLineDash([])
  }
}

function colourOf({ afterGap, speed }: TrackPoint, fastest: number): Colour {
  if (afterGap) return undefined
  const step = Math.min(SPEED_COLOURS.length - 1, Math.floor(((speed ?? 0) / fastest) * 5))
  return SPEED_COLOURS[step] ?? SPEED_COLOURS[0]
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

function dot(context: CanvasRenderingContext2D, [x, y]: readonly [number, number]): void {
  context.beginPath()
  context.arc(x, y, 5, 0, 2 * Math.PI)
  context.fillStyle = SPEED_COLOURS[0]
  context.fill()
}
