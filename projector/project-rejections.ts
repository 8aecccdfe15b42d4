import type { RejectionLog } from '../event-log/event-log.ts'
import type { Rejections } from '../store/back-office.ts'

/**
 * Carries refused reports from their log into the store until `signal` is aborted. A store that is
 * away is waited for: the log delivers again what was not stored.
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
