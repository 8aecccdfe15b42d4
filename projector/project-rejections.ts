import type { RejectionLog } from '../event-log/event-log.ts'
import type { Rejections } from '../store/back-office.ts'

/**
 * Projects rejections from their log into the store until `signal` is aborted. While the store is
 * unavailable the log redelivers the batches that were not stored.
 */
export async function projectRejections({
  eventLog,
  store,
  signal,
}: {
  eventLog: Pick<RejectionLog, 'subscribeRejections'>
  store: Pick<Rejections, 'saveRejections'>
  signal: AbortSignal
}): Promise<void> {
  await eventLog.subscribeRejections({
    group: 'rejections',
    onBatch: (events) => store.saveRejections(events),
    signal,
  })
}
