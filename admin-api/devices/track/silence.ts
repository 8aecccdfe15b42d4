import { SILENCE } from '../../../schemas/liveness.ts'
import type { TrackStep } from '../../../schemas/read-models.ts'
import { LONGEST_STEP_MS } from '../../../schemas/geo/unknown-path.ts'

/**
 * The silence, in milliseconds, that is a gap of a track: the device counts as offline, by its
 * expected interval or else by the usual interval of these first steps, or its path is unknown.
 */
export function gapAfterMs(
  steps: readonly TrackStep[],
  expectedIntervalSeconds: number | undefined,
): number {
  const { intervals, leastMs } = SILENCE.idle
  const usualMs = (expectedIntervalSeconds ?? 0) * 1_000 || usualInterval(steps)
  return Math.min(Math.max(intervals * usualMs, leastMs), LONGEST_STEP_MS)
}

/** The median time between records, in milliseconds. */
function usualInterval(steps: readonly TrackStep[]): number {
  const intervals = steps
    .slice(1)
    .map(({ timestamp }, n) => timestamp - (steps[n]?.timestamp ?? timestamp))
    .filter((ms) => ms > 0)
    .sort((a, b) => a - b)
  return intervals[intervals.length >> 1] ?? 0
}
