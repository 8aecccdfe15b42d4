export type Circle = { readonly x: number; readonly y: number; readonly radius: number }

const FROM_MIDDLE = 19
const FROM_EDGE = 4
const HALF_HEIGHT = 8
/** From line to line. */
export const LINE = 14

/** The column of buttons at a map's right edge, with its margins. */
const BUTTONS = { across: 64, down: 264 }

/** The width of the view that is free for the label of a device at (x, y). */
export function freeWidth({ x, y }: { readonly x: number; readonly y: number }, width: number) {
  const free = width - BUTTONS.across
  return x < free && y < BUTTONS.down ? free : width
}

/** The sides of a device: to its right, left, below, above. */
const SIDES = [
  { align: 'left', x: FROM_MIDDLE, y: 0 },
  { align: 'right', x: -FROM_MIDDLE, y: 0 },
  { align: 'center', x: 0, y: 26 },
  { align: 'center', x: 0, y: -26 },
] as const

type Side = (typeof SIDES)[number]

/**
 * Where the label of a device at (x, y) is drawn: on the first side where it is in view and covers
 * nothing, or else on the first where it is in view. `x` is the label's left end, middle or right
 * end, depending on `align`; `y` is the middle of its first line.
 */
export function labelPlace(
  { x, y }: { readonly x: number; readonly y: number },
  {
    width,
    lines,
    obstacles,
    viewWidth,
  }: { width: number; lines: number; obstacles: readonly Circle[]; viewWidth: number },
): { readonly align: Side['align']; readonly x: number; readonly y: number } {
  const height = (lines - 1) * LINE
  const near = obstacles.filter(
    (one) => Math.hypot(one.x - x, one.y - y) < width + FROM_MIDDLE + one.radius,
  )
  const inView = SIDES.filter(isInView)
  const isFree = (side: Side) => !near.some((circle) => covers(side, circle))
  const side = inView.find(isFree) ?? inView[0] ?? SIDES[0]
  return { align: side.align, x: leftOf(side) + before(side), y: middleOf(side) }

  /** The width of the label before its anchor. */
  function before({ align }: Side): number {
    return align === 'left' ? 0 : align === 'right' ? width : width / 2
  }

  /** Below or above a device in view, the label is moved into the view. */
  function leftOf(side: Side): number {
    const left = x + side.x - before(side)
    const isMovable = side.align === 'center' && x >= 0 && x <= viewWidth
    return isMovable ? Math.max(FROM_EDGE, Math.min(left, viewWidth - FROM_EDGE - width)) : left
  }

  function isInView(side: Side): boolean {
    const left = leftOf(side)
    return left >= FROM_EDGE && left + width <= viewWidth - FROM_EDGE
  }

  /** The middle of the first line. */
  function middleOf({ y: down }: Side): number {
    return y + down - (down < 0 ? height : 0)
  }

  function covers(side: Side, circle: Circle): boolean {
    const [left, top] = [leftOf(side), middleOf(side) - HALF_HEIGHT]
    const nearestX = Math.max(left, Math.min(circle.x, left + width))
    const nearestY = Math.max(top, Math.min(circle.y, top + 2 * HALF_HEIGHT + height))
    return Math.hypot(circle.x - nearestX, circle.y - nearestY) < circle.radius + 2
  }
}
