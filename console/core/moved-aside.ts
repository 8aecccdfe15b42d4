type Spot = { readonly x: number; readonly y: number }

/**
 * Moves a spot to at least `distance` from another one, in the same direction, or to the left if
 * they coincide.
 */
export function movedAside(spot: Spot, from: Spot, distance: number): Spot {
  const [dx, dy] = [spot.x - from.x, spot.y - from.y]
  const now = Math.hypot(dx, dy)
  if (now >= distance) return { x: spot.x, y: spot.y }
  if (now === 0) return { x: from.x - distance, y: from.y }
  return { x: from.x + (dx / now) * distance, y: from.y + (dy / now) * distance }
}
