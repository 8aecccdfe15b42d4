import type { Palette } from '../core/palette.ts'

export const LABEL_FONT = '600 12px system-ui, sans-serif'
const NOTE_FONT = '400 11px system-ui, sans-serif'

export type Circle = { readonly x: number; readonly y: number; readonly radius: number }

const FROM_MIDDLE = 19
const HALF_HEIGHT = 8
const LINE = 14
const MOST_LETTERS = 28

/** The sides of a device: to its right, left, below, above. */
const SIDES = [
  { align: 'start', x: FROM_MIDDLE, y: 0 },
  { align: 'end', x: -FROM_MIDDLE, y: 0 },
  { align: 'center', x: 0, y: 26 },
  { align: 'center', x: 0, y: -26 },
] as const

/**
 * Draws the name of the device at (x, y), and a note below the name, at the first side where they
 * cover nothing else, or else to its right. The context's font is `LABEL_FONT`.
 */
export function drawLabel(
  context: CanvasRenderingContext2D,
  x: number,
  y: number,
  { text, note, obstacles }: Label,
  palette: Palette,
): void {
  const name = cut(text)
  const width = Math.max(widthOf(context, name), note === undefined ? 0 : widthOf(context, note))
  const height = note === undefined ? 0 : LINE
  const near = obstacles.filter(
    (one) => Math.hypot(one.x - x, one.y - y) < width + FROM_MIDDLE + one.radius,
  )
  const side = SIDES.find((one) => !near.some((circle) => covers(one, circle))) ?? SIDES[0]
  context.textAlign = side.align
  context.textBaseline = 'middle'
  context.lineWidth = 3
  context.strokeStyle = palette.halo
  context.fillStyle = palette.text
  const middle = middleOf(side)
  write(name, middle)
  if (note === undefined) return
  context.font = NOTE_FONT
  write(note, middle + LINE)
  context.font = LABEL_FONT

  function write(line: string, at: number): void {
    context.strokeText(line, x + side.x, at)
    context.fillText(line, x + side.x, at)
  }

  /** The middle of the name's line. */
  function middleOf({ y: dy }: (typeof SIDES)[number]): number {
    return y + dy - (dy < 0 ? height : 0)
  }

  function covers(one: (typeof SIDES)[number], circle: Circle): boolean {
    const { align, x: dx } = one
    const left = x + dx - (align === 'start' ? 0 : align === 'end' ? width : width / 2)
    const top = middleOf(one) - HALF_HEIGHT
    const nearestX = Math.max(left, Math.min(circle.x, left + width))
    const nearestY = Math.max(top, Math.min(circle.y, top + 2 * HALF_HEIGHT + height))
    return Math.hypot(circle.x - nearestX, circle.y - nearestY) < circle.radius + 2
  }
}

type Label = {
  readonly text: string
  readonly note?: string | undefined
  readonly obstacles: readonly Circle[]
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
