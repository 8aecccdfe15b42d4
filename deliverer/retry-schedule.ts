const SECOND_MS = 1_000
const HOUR_MS = 3_600 * SECOND_MS
const PAUSES_MS = [5, 30, 120, 300, 900, 1_800].map((seconds) => seconds * SECOND_MS)
const FIRST_PAUSE_MS = 5 * SECOND_MS
const JITTER = 0.2

/**
 * The pause after the nth failure in a row, counted from 1. `retryAfterMs`: as requested by the
 * receiver, up to an hour. `random`: from 0 to 1.
 */
export function pauseAfter(
  failures: number,
  { retryAfterMs, random }: { retryAfterMs?: number | undefined; random: number },
): number {
  if (retryAfterMs !== undefined) return Math.min(Math.max(retryAfterMs, FIRST_PAUSE_MS), HOUR_MS)
  const pause = PAUSES_MS[failures - 1] ?? HOUR_MS
  return Math.round(pause * (1 - JITTER + 2 * JITTER * random))
}
