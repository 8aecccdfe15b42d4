import { labelPlace, type PixelBox, type Circle } from '../core/label-place.ts'
import type { Palette } from '../core/palette.ts'

export const LABEL_FONT = '600 12px system-ui, sans-serif'
const NOTE_FONT = '400 11px system-ui, sans-serif'

/** A label is a pill: its text has this room on each side, and its lines are this high. */
const ROOM = { across: 6, down: 3 }
const LINE = 14
const RADIUS = 6

const MOST_LETTERS = 28

export type MapLabel = {
  readonly x: number
  readonly y: number
  readonly text: string
  /** A second line. */
  readonly note?: string | undefined
  /** Whether to show the label even if it covers something. */
  readonly isWanted?: boolean
}

export type PlacedLabel = Pick<MapLabel, 'text' | 'note'> & PixelBox

/** Places labels that cover nothing, including earlier labels; the others are omitted. */
export function placeLabels(
  context: CanvasRenderingContext2D,
  labels: readonly MapLabel[],
  room: {
    readonly viewWidth: number
    readonly obstacles: readonly Circle[]
    readonly boxes: readonly PixelBox[]
  },
): readonly PlacedLabel[] {
  const boxes = [...room.boxes]
  return labels.flatMap(({ x, y, text, note, isWanted = false }) => {
    const name = cut(text)
    const widths = [widthOf(context, name, LABEL_FONT)]
    if (note !== undefined) widths.push(widthOf(context, note, NOTE_FONT))
    const size = {
      width: Math.ceil(Math.max(...widths)) + 2 * ROOM.across,
      height: widths.length * LINE + 2 * ROOM.down,
    }
    const box = labelPlace({ x, y }, { ...room, boxes, ...size }, { isWanted })
    if (box === undefined) return []
    boxes.push(box)
    return { ...box, text: name, note }
  })
}

export function drawLabels(
  context: CanvasRenderingContext2D,
  labels: readonly PlacedLabel[],
  { pill, pillLine, text: colour }: Palette,
): void {
  context.textAlign = 'left'
  context.textBaseline = 'middle'
  context.lineWidth = 1
  context.strokeStyle = pillLine
  for (const { left, top, right, bottom, text, note } of labels) {
    context.beginPath()
    context.roundRect(left, top, right - left, bottom - top, RADIUS)
    context.fillStyle = pill
    context.fill()
    context.stroke()
    const x = left + ROOM.across
    const middle = top + ROOM.down + LINE / 2
    context.fillStyle = colour
    context.font = LABEL_FONT
    context.fillText(text, x, middle)
    if (note === undefined) continue
    context.font = NOTE_FONT
    context.fillText(note, x, middle + LINE)
  }
}

const widths = new Map<string, number>()
const MOST_WIDTHS = 1_000

/** Cached, because measuring takes as long as painting, and labels are painted in each frame. */
function widthOf(context: CanvasRenderingContext2D, text: string, font: string): number {
  const key = font + text
  let width = widths.get(key)
  if (width === undefined) {
    if (widths.size >= MOST_WIDTHS) widths.clear()
    context.font = font
    width = context.measureText(text).width
    widths.set(key, width)
  }
  return width
}

/** Isolates the text, so that right-to-left letters do not reverse the label. */
export function cut(text: string): string {
  const letters = [...text]
  const shown =
    letters.length > MOST_LETTERS ? `${letters.slice(0, MOST_LETTERS - 1).join('')}…` : text
  return `\u2068${shown}\u2069`
}
