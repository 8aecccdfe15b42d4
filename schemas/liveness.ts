/** Whether a device is alive. */
export type Liveness = 'online' | 'idle' | 'offline'

const MINUTE_MS = 60_000

/** How long a device may be silent: `longestMs`, or `intervals` if an interval is expected. */
export const SILENCE = {
  online: { longestMs: 5 * MINUTE_MS, intervals: 2, leastMs: MINUTE_MS },
  idle: { longestMs: 60 * MINUTE_MS, intervals: 10, leastMs: 5 * MINUTE_MS },
} as const

/** When a device was last heard of, and how often it should be. */
export type LastHeard = {
  readonly lastSeenAt: number
  readonly expectedIntervalSeconds?: number | undefined
}

/**
 * `online` up to 5 minutes after the last report, `idle` up to 60, else `offline`. With an expected
 * interval: online up to twice that (at least 60 s), offline after ten times that (at least 300 s).
 * The console goes by the same rule between two answers of the API.
 */
export function livenessOf(
  { lastSeenAt, expectedIntervalSeconds: expected }: LastHeard,
  now: number,
): Liveness {
  const silentMs = now - lastSeenAt
  const mayBe = ({ longestMs, intervals, leastMs }: (typeof SILENCE)[keyof typeof SILENCE]) =>
    silentMs <=
    (expected === undefined ? longestMs : Math.max(intervals * 1_000 * expected, leastMs))
  if (mayBe(SILENCE.online)) return 'online'
  return mayBe(SILENCE.idle) ? 'idle' : 'offline'
}
