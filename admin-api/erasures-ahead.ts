import { erasuresAfter } from '../event-log/follow/erasures-after.ts'
import type { ReadableLog } from '../event-log/follow/followed.ts'
import type { Logger } from '../runtime/logger.ts'
import { untilSucceeded } from '../runtime/repeat.ts'
import type { Erasures, ReadModels } from '../store/read-models.ts'

/** Without an answer from log and store for this long, what the store has is shown. */
const LONGEST_ASKED_MS = 5_000

export type ErasuresAhead = {
  /** Resolves when all are hidden, or `signal` is aborted. */
  readonly done: Promise<void>
  /** Whether erased devices might be shown: the log is being read. */
  isReading(): boolean
}

/**
 * Hides devices that the log erases after the store's checkpoint and that the store has never heard of:
 * an older store was restored. Until the projector has come to those erasures, the devices would be shown.
 */
export function hideErasedAhead({
  eventLog,
  store,
  logger,
  signal,
}: {
  eventLog: ReadableLog
  store: Pick<ReadModels, 'checkpoint'> & Pick<Erasures, 'erasuresOf' | 'hideErased'>
  logger: Logger
  signal: AbortSignal
}): ErasuresAhead {
  const askedAt = performance.now()
  let state: 'asking' | 'reading' | 'done' = 'asking'

  async function hide(): Promise<void> {
    state = 'asking'
    const after = await store.checkpoint()
    await eventLog.extent()
    state = 'reading'
    for await (const { event } of erasuresAfter(after, { eventLog, signal })) {
      const { accountId, deviceId, erasedAt } = event
      const known = await store.erasuresOf({ accountId, deviceIds: [deviceId] })
      if ((known.get(deviceId)?.erasedAt ?? -Infinity) >= erasedAt) continue
      await store.hideErased(event)
      logger.info({ accountId, deviceId }, 'hid a device that the log erases')
    }
    state = 'done'
  }

  const failure = 'erasures in the log are not known yet, trying again'
  return {
    done: untilSucceeded(hide, { logger, signal, failure }),
    isReading: () =>
      state === 'reading' || (state === 'asking' && performance.now() - askedAt < LONGEST_ASKED_MS),
  }
}
