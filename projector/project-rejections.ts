import type { Topic } from '../event-log/topic.ts'
import type { ReportRejected } from '../schemas/report-rejected.ts'
import type { Rejections } from '../store/rejections.ts'

/**
 * Projects rejections from their log into the store until `signal` is aborted. While the store is
 * unavailable the log redelivers the batches that were not stored.
 */
export async function projectRejections({
  rejections,
  store,
  signal,
}: {
  rejections: Pick<Topic<ReportRejected>, 'subscribe'>
  store: Pick<Rejections, 'saveRejections'>
  signal: AbortSignal
}): Promise<void> {
  await rejections.subscribe({
    group: 'rejections',
    onBatch: (events) => store.saveRejections(events),
    signal,
  })
}
