import { diceOf, type Spot } from './plane.ts'

export const BLOCK = { across: 130, down: 96 }
const STREET = 9

/** A block between four streets: its south-western corner, and what is on it. */
export type Block = {
  readonly west: number
  readonly south: number
  readonly use: 'houses' | 'park' | 'industrial' | 'school'
}

/** The middle line of the river, which runs from west to east. */
export function riverNorth(east: number): number {
  return -260 + 170 * Math.sin(east / 700)
}

/** South of this line there are fields. */
const RADIUS = 1_500

/** The town's blocks: fewer of them the further from the middle, and none in the river. */
export function blocks(): Block[] {
  const dice = diceOf(7)
  const found: Block[] = []
  for (let column = -12; column < 12; column += 1) {
    for (let row = -16; row < 16; row += 1) {
      const [west, south] = [column * BLOCK.across, row * BLOCK.down]
      const [east, north] = [west + BLOCK.across / 2, south + BLOCK.down / 2]
      const chance = dice()
      if (Math.abs(riverNorth(east) - north) < 105) continue
      const far = Math.hypot(east, north) / RADIUS
      if (far + 0.25 * chance > 1) continue
      const isGreen = (column + 2) ** 2 + (row - 4) ** 2 < 3 || chance > 0.95
      const isWorks = column > 5 && row < -6
      const use = isGreen ? 'park' : isWorks ? 'industrial' : chance > 0.92 ? 'school' : 'houses'
      found.push({ west, south, use })
    }
  }
  return found
}

/** The outlines of the houses along the block's four streets. */
export function houses({ west, south, use }: Block): Spot[][] {
  const dice = diceOf(west * 31 + south * 17 + 99_991)
  const found: Spot[][] = []
  const [width, height] = [BLOCK.across - 2 * STREET, BLOCK.down - 2 * STREET]
  const [left, bottom] = [west + STREET, south + STREET]
  const far = Math.hypot(west, south) / RADIUS
  if (use === 'industrial' || use === 'school') {
    return [box(left + 8, bottom + 8, width * 0.7, height * 0.4 + 20 * dice())]
  }
  for (const isNorth of [false, true]) {
    let at = 0
    while (at < width - 8) {
      const long = Math.min(width - at, 10 + 14 * dice())
      const deep = 11 + 7 * dice()
      const isBuilt = dice() > far * 0.55
      const y = isNorth ? bottom + height - deep : bottom
      if (isBuilt) found.push(box(left + at, y, long, deep))
      // Houses stand wall to wall in the middle of the town only.
      at += long + (far < 0.35 ? 0 : 3 + 12 * far * dice())
    }
  }
  for (const isEast of [false, true]) {
    for (let at = 22; at < height - 26; at += 14) {
      if (dice() < far * 0.8) continue
      found.push(box(isEast ? left + width - 12 : left, bottom + at, 12, far < 0.35 ? 14 : 10))
    }
  }
  return found
}

export function box(west: number, south: number, width: number, height: number): Spot[] {
  const [east, north] = [west + width, south + height]
  return [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ]
}
