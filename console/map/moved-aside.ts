type Spot = { readonly x: number; readonly y: number }

/** A spot that is at least so far from another one, in the direction in which it was; else to its left. */
export function movedAside(spot: Spot, from: Spot, distance: number): Spot {
  const [dx, dy] = [spot.x - from.x, spot.y - from.y]
  const now = Math.hypot(dx, dy)
  if (now >= distance) return { x: spot.x, y: spot.y }
  if (now === 0) return { x: from.x - distance, y: from.y }
  return { x: from.x + (dx / now) * distance, y: from.y + (dy / now) * distance }
}
