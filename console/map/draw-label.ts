import type { Palette } from '../ui/palette.ts'

export const LABEL_FONT = '600 12px system-ui, sans-serif'

export type Circle = { readonly x: number; readonly y: number; readonly radius: number }

const FROM_MIDDLE = 19
const HALF_HEIGHT = 8
const MOST_LETTERS = 28

/** The sides of a device: to its right, left, below, above. */
const SIDES = [
  { align: 'start', x: FROM_MIDDLE, y: 0 },
  { align: 'end', x: -FROM_MIDDLE, y: 0 },
  { align: 'center', x: 0, y: 26 },
  { align: 'center', x: 0, y: -26 },
] as const

/**
 * Draws the name of the device at (x, y), at the first side where it covers nothing else, or else
 * to its right. The context's font is `LABEL_FONT`.
 */
export function drawLabel(
  context: CanvasRenderingContext2D,
  x: number,
  y: number,
  { text, obstacles }: { readonly text: string; readonly obstacles: readonly Circle[] },
  palette: Palette,
): void {
  const shown = cut(text)
  const width = widthOf(context, shown)
  const near = obstacles.filter(
    (one) => Math.hypot(one.x - x, one.y - y) < width + FROM_MIDDLE + one.radius,
  )
  const side = SIDES.find((one) => !near.some((circle) => covers(one, circle))) ?? SIDES[0]
  context.textAlign = side.align
  context.textBaseline = 'middle'
  context.lineWidth = 3
  context.strokeStyle = palette.halo
  context.strokeText(shown, x + side.x, y + side.y)
  context.fillStyle = palette.text
  context.fillText(shown, x + side.x, y + side.y)

  function covers({ align, x: dx, y: dy }: (typeof SIDES)[number], circle: Circle): boolean {
    const left = x + dx - (align === 'start' ? 0 : align === 'end' ? width : width / 2)
    const top = y + dy - HALF_HEIGHT
    const nearestX = Math.max(left, Math.min(circle.x, left + width))
    const nearestY = Math.max(top, Math.min(circle.y, top + 2 * HALF_HEIGHT))
    return Math.hypot(circle.x - nearestX, circle.y - nearestY) < circle.radius + 2
  }
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
