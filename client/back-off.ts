const SHORTEST_MS = 200
const JITTER_MS = 500
/** Longer is hardly meant, and Node fires timers of more than 24 days immediately. */
const LONGEST_RETRY_AFTER_MS = 3_600_000

/** How long to wait before sending again: as the service says, else longer after every failure. */
export function backOffMs({
  failures,
  retryAfterMs,
  longestMs,
  jitter,
}: {
  /** In a row, from 1. */
  failures: number
  retryAfterMs?: number | undefined
  longestMs: number
  /** From 0 to 1, so that not all senders come back at once. */
  jitter: number
}): number {
  const waitMs =
    retryAfterMs === undefined
      ? Math.min(longestMs, SHORTEST_MS * 2 ** (failures - 1))
      : Math.min(LONGEST_RETRY_AFTER_MS, retryAfterMs)
  return waitMs + jitter * JITTER_MS
}
