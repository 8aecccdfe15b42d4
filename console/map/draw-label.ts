import { freeWidth, labelPlace, LINE, type Circle } from '../core/label-place.ts'
import type { Palette } from '../core/palette.ts'

export const LABEL_FONT = '600 12px system-ui, sans-serif'
const NOTE_FONT = '400 11px system-ui, sans-serif'

const MOST_LETTERS = 28

/**
 * Draws the name of the device at (x, y), with a note below, if possible where they cover nothing
 * else. The context's font is `LABEL_FONT`.
 */
export function drawLabel(
  context: CanvasRenderingContext2D,
  x: number,
  y: number,
  { text, note, obstacles, viewWidth }: MapLabel,
  palette: Palette,
): void {
  const name = cut(text)
  const lines = note === undefined ? [name] : [name, note]
  const width = Math.max(...lines.map((line) => widthOf(context, line)))
  const room = { obstacles, viewWidth: freeWidth({ x, y }, viewWidth) }
  const place = labelPlace({ x, y }, { width, lines: lines.length, ...room })
  context.textAlign = place.align
  context.textBaseline = 'middle'
  context.lineWidth = 3
  context.strokeStyle = palette.halo
  context.fillStyle = palette.text
  for (const [index, line] of lines.entries()) {
    if (index > 0) context.font = NOTE_FONT
    context.strokeText(line, place.x, place.y + index * LINE)
    context.fillText(line, place.x, place.y + index * LINE)
  }
  context.font = LABEL_FONT
}

type MapLabel = {
  readonly text: string
  readonly note?: string | undefined
  readonly obstacles: readonly Circle[]
  readonly viewWidth: number
}

const widths = new Map<string, number>()
const MOST_WIDTHS = 1_000

/**
 * The width in `LABEL_FONT`; measuring takes as long as painting, and labels are painted in each
 * frame.
 */
function widthOf(context: CanvasRenderingContext2D, text: string): number {
  let width = widths.get(text)
  if (width === undefined) {
    if (widths.size >= MOST_WIDTHS) widths.clear()
    width = context.measureText(text).width
    widths.set(text, width)
  }
  return width
}

/** Isolates the text, so that right-to-left letters do not reverse the label. */
function cut(text: string): string {
  const letters = [...text]
  const shown =
    letters.length > MOST_LETTERS ? `${letters.slice(0, MOST_LETTERS - 1).join('')}…` : text
  return `\u2068${shown}\u2069`
}
