import type { EventLog } from '../event-log/event-log.ts'
import type { Clock } from '../runtime/clock.ts'
import type { ReadModels } from '../store/read-models.ts'

const DAY_MS = 24 * 60 * 60 * 1_000

/**
 * Removes what was received more than `retentionDays` ago: first from the log, so that a concurrent
 * rebuild brings nothing back, then from the read models.
 */
export async function applyRetention({
  eventLog,
  store,
  clock,
  retentionDays,
  signal,
}: {
  eventLog: Pick<EventLog, 'trim'>
  store: Pick<ReadModels, 'expire'>
  clock: Clock
  retentionDays: number
  /** Ends it between two steps; the rest goes the next time. */
  signal: AbortSignal
}): Promise<void> {
  const receivedBefore = clock.now() - retentionDays * DAY_MS
  await eventLog.trim(receivedBefore, signal)
  if (!signal.aborted) await store.expire(receivedBefore, signal)
}
