import type { EventLog } from '../event-log/event-log.ts'
import type { Clock } from '../runtime/clock.ts'
import type { FactStore } from '../store/facts.ts'
import type { Generations } from '../store/generations.ts'
import type { ReadModels } from '../store/read-models.ts'
import { projectorGroup } from './projector.ts'

const DAY_MS = 24 * 60 * 60 * 1_000

/**
 * Removes data received more than `retentionDays` ago: first from the log, so that a concurrent
 * rebuild brings nothing back, then from the read models. Those only contain reports that have been
 * projected: a device that was silent for `retentionDays` up to that point is removed; a
 * device that may have reported since stays.
 */
export async function applyRetention({
  eventLog,
  store,
  clock,
  retentionDays,
  signal,
}: {
  eventLog: Pick<EventLog, 'trim' | 'lag'>
  store: Pick<ReadModels, 'expire' | 'checkpoint'> &
    Pick<Generations, 'currentGeneration'> &
    Pick<FactStore, 'expireFacts'>
  clock: Clock
  retentionDays: number
  /** Stops it between two steps; the next call continues. */
  signal: AbortSignal
}): Promise<void> {
  const receivedBefore = clock.now() - retentionDays * DAY_MS
  await eventLog.trim(receivedBefore, signal)
  const group = projectorGroup(await store.currentGeneration())
  const lag = await eventLog.lag(group, await store.checkpoint())
  const seenBefore = receivedBefore - lag.seconds * 1_000
  if (!signal.aborted) await store.expire(receivedBefore, { seenBefore, signal })
  if (!signal.aborted) await store.expireFacts(seenBefore, signal)
}
