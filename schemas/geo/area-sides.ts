import type { Area } from './area.ts'
import type { Coordinates } from './distance.ts'

/** A position with its accuracy in metres; without `accuracy` it counts as exact. */
export type Fix = Coordinates & { readonly accuracy?: number }

/** How inaccurate a position inside may be, regardless of its distance from the edge. */
const TOLERATED_METRES = 100
/** Positions outside but this near to the edge leave it open whether the device has left. */
export const EDGE_METRES = 20

/**
 * Whether the device is certainly far enough inside: within the depth, or a tolerance that small
 * areas lower.
 */
export function hasEntered(areas: readonly Area[], fix: Fix): boolean {
  const { accuracy = 0 } = fix
  return areas.some(
    (area) =>
      area.contains(fix) &&
      (accuracy <= Math.min(TOLERATED_METRES, area.shorterSideMetres) ||
        area.metresFromEdge(fix, accuracy) >= accuracy),
  )
}

/** Whether the device is certainly outside: farther from the edge than its accuracy. */
export function hasLeft(areas: readonly Area[], fix: Fix): boolean {
  const beyond = Math.max(EDGE_METRES, fix.accuracy ?? 0)
  return areas.every((area) => !area.contains(fix) && area.metresFromEdge(fix, beyond) >= beyond)
}
