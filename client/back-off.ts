const SHORTEST_MS = 200
const JITTER_MS = 500
/** A longer pause is hardly intended, and Node fires timers of more than 24 days immediately. */
const LONGEST_RETRY_AFTER_MS = 3_600_000

/** The pause before sending again: as the service says, or else longer after every failure. */
export function backOffMs({
  failures,
  retryAfterMs,
  longestMs,
  jitter,
}: {
  /** Consecutive failures, from 1. */
  failures: number
  retryAfterMs?: number | undefined
  longestMs: number
  /** From 0 to 1, so that senders do not all come back together. */
  jitter: number
}): number {
  const waitMs =
    retryAfterMs === undefined
      ? Math.min(longestMs, SHORTEST_MS * 2 ** (failures - 1))
      : Math.min(LONGEST_RETRY_AFTER_MS, retryAfterMs)
  return waitMs + jitter * JITTER_MS
}
