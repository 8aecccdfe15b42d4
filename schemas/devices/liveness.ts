/** Whether a device is alive. */
export type Liveness = 'online' | 'idle' | 'offline'

const MINUTE_MS = 60_000

/**
 * The longest acceptable silence of a device: `longestMs`, or `intervals` if an interval is
 * expected.
 */
export const SILENCE = {
  online: { longestMs: 5 * MINUTE_MS, intervals: 2, leastMs: MINUTE_MS },
  idle: { longestMs: 60 * MINUTE_MS, intervals: 10, leastMs: 5 * MINUTE_MS },
} as const

/** When a device last reported, and how often it should. */
export type LastHeard = {
  readonly lastSeenAt: number
  readonly expectedIntervalSeconds?: number | undefined
}

/**
 * `online` up to 5 minutes after the last report, `idle` up to 60, else `offline`. With an expected
 * interval: online up to twice that (at least 60 s), offline after ten times that (at least 300 s).
 * The console applies the same rule between two responses of the API.
 */
export function livenessOf(heard: LastHeard, now: number): Liveness {
  if (now <= findDeadline('online', heard)) return 'online'
  return now <= findDeadline('idle', heard) ? 'idle' : 'offline'
}

/** How long the liveness at `now` lasts without another report. */
export function livenessLastsUntil(heard: LastHeard, now: number): number {
  const liveness = livenessOf(heard, now)
  return liveness === 'offline' ? Infinity : findDeadline(liveness, heard)
}

function findDeadline(
  liveness: keyof typeof SILENCE,
  { lastSeenAt, expectedIntervalSeconds: expected }: LastHeard,
): number {
  const { longestMs, intervals, leastMs } = SILENCE[liveness]
  const mayBeSilentMs =
    expected === undefined ? longestMs : Math.max(intervals * 1_000 * expected, leastMs)
  return lastSeenAt + mayBeSilentMs
}
