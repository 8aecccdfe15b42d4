export type Circle = { readonly x: number; readonly y: number; readonly radius: number }
export type PixelBox = {
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
}

/**
 * From a device to the nearest edge of its label, with room for the arrow and a selection's ring.
 */
const FROM_DEVICE = 17
const FROM_EDGE = 4

/** The sides of a device: its label is to the right, to the left, below or above. */
const SIDES = [
  { across: 1, down: 0 },
  { across: -1, down: 0 },
  { across: 0, down: 1 },
  { across: 0, down: -1 },
] as const

type LabelRoom = {
  readonly width: number
  readonly height: number
  readonly viewWidth: number
  /** Marks that labels must not cover. */
  readonly obstacles: readonly Circle[]
  /** Labels placed before, and the map's controls. */
  readonly boxes: readonly PixelBox[]
}

/**
 * Places a device's label on the first side where it is in view and covers nothing else. If there
 * is no such side, returns undefined, or with `isWanted` a place that covers something.
 */
export function labelPlace(
  { x, y }: { readonly x: number; readonly y: number },
  { width, height, viewWidth, obstacles, boxes }: LabelRoom,
  { isWanted = false }: { readonly isWanted?: boolean } = {},
): PixelBox | undefined {
  const reach = width + height + FROM_DEVICE
  const near = obstacles.filter((one) => Math.hypot(one.x - x, one.y - y) < reach + one.radius)
  const inView = SIDES.map(boxOn).filter(
    ({ left, right }) => left >= FROM_EDGE && right <= viewWidth - FROM_EDGE,
  )
  const isFree = (box: PixelBox) =>
    !near.some((circle) => covers(box, circle)) && !boxes.some((other) => overlap(box, other))
  return inView.find(isFree) ?? (isWanted ? (inView[0] ?? boxOn(SIDES[0])) : undefined)

  function boxOn({ across, down }: (typeof SIDES)[number]): PixelBox {
    const centreAt = (side: number, size: number) => side * (FROM_DEVICE + size / 2)
    const top = y + centreAt(down, height) - height / 2
    const left = shiftIntoView(x + centreAt(across, width) - width / 2, across === 0)
    return { left, top, right: left + width, bottom: top + height }
  }

  /** Shifts a label below or above a device into the view. */
  function shiftIntoView(left: number, isCentred: boolean): number {
    const isMovable = isCentred && x >= 0 && x <= viewWidth
    return isMovable ? Math.max(FROM_EDGE, Math.min(left, viewWidth - FROM_EDGE - width)) : left
  }
}

export function overlap(a: PixelBox, b: PixelBox): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
}

/** Whether two boxes are less than two pixels apart. */
function covers({ left, top, right, bottom }: PixelBox, { x, y, radius }: Circle): boolean {
  const nearestX = Math.max(left, Math.min(x, right))
  const nearestY = Math.max(top, Math.min(y, bottom))
  return Math.hypot(x - nearestX, y - nearestY) < radius + 2
}
