import { circlesOf, type StayedPlace } from '../core/places.ts'
import { duration } from '../core/times.ts'
import { palette } from '../ui/palette.ts'
import { LABEL_FONT } from './draw-label.ts'

export type PaintedPlace = Pick<StayedPlace, 'position' | 'ms'>

const HALF_HOUR_MS = 1_800_000
/** Smaller circles have no room for their time. */
const LABELLED_RADIUS = 13

/** A circle for each place with the time spent there. */
export function drawPlaces(
  context: CanvasRenderingContext2D,
  places: readonly PaintedPlace[],
  pixelOf: (place: Pick<PaintedPlace, 'position'>) => readonly [x: number, y: number],
): void {
  const { accent, ring, text } = palette.peek()
  const circles = circlesOf(
    places.map((place) => {
      const [x, y] = pixelOf(place)
      return { x, y, ms: place.ms }
    }),
  )
  context.font = LABEL_FONT
  context.textAlign = 'center'
  context.textBaseline = 'middle'
  for (const { x, y, ms, radius } of circles) {
    context.beginPath()
    context.arc(x, y, radius, 0, 2 * Math.PI)
    context.globalAlpha = 0.3
    context.fillStyle = accent
    context.fill()
    context.globalAlpha = 1
    context.strokeStyle = accent
    context.lineWidth = 1.5
    context.stroke()
    if (radius < LABELLED_RADIUS || ms < HALF_HOUR_MS) continue
    const lasted = duration(ms)
    context.strokeStyle = ring
    context.lineWidth = 3
    context.strokeText(lasted, x, y)
    context.fillStyle = text
    context.fillText(lasted, x, y)
  }
}
