import { SILENCE } from '../../../schemas/liveness.ts'
import type { TrackStep } from '../../../schemas/read-models.ts'

/**
 * The silence, in milliseconds, after which a device counts as offline: by its expected interval or,
 * without one, by the usual interval of these first steps of a track.
 */
export function gapAfterMs(
  steps: readonly TrackStep[],
  expectedIntervalSeconds: number | undefined,
): number {
  const { intervals, leastMs } = SILENCE.idle
  const usualMs = (expectedIntervalSeconds ?? 0) * 1_000 || usualInterval(steps)
  return Math.max(intervals * usualMs, leastMs)
}

/** The median time between records, in milliseconds. */
function usualInterval(steps: readonly TrackStep[]): number {
  const intervals = steps
    .slice(1)
    .map(([timestamp], n) => timestamp - (steps[n]?.[0] ?? timestamp))
    .filter((ms) => ms > 0)
    .sort((a, b) => a - b)
  return intervals[intervals.length >> 1] ?? 0
}
