import type { Topic } from '../event-log/topic.ts'
import type { ReportRejected } from '../schemas/events/report-rejected.ts'
import type { Erasures } from '../store/read-models.ts'
import type { Rejections } from '../store/rejections.ts'

type RejectionStore = Pick<Rejections, 'saveRejections'> & Pick<Erasures, 'erasuresOf'>

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
  store: RejectionStore
  signal: AbortSignal
}): Promise<void> {
  await rejections.subscribe({
    group: 'rejections',
    onBatch: async (events) => store.saveRejections(await dropErased(events, store)),
    signal,
  })
}

/** The rejected reports that came after the last erasure of their device. */
async function dropErased(
  events: readonly ReportRejected[],
  store: Pick<Erasures, 'erasuresOf'>,
): Promise<ReportRejected[]> {
  const left: ReportRejected[] = []
  for (const accountId of new Set(events.map((event) => event.accountId))) {
    const own = events.filter((event) => event.accountId === accountId)
    const named = own.flatMap(({ deviceId }) => (deviceId?.isWellFormed() ? [deviceId] : []))
    const erasures = await store.erasuresOf({ accountId, deviceIds: [...new Set(named)] })
    const findErasureTime = (deviceId = '') => erasures.get(deviceId)?.erasedAt ?? -Infinity
    left.push(...own.filter(({ deviceId, receivedAt }) => receivedAt > findErasureTime(deviceId)))
  }
  return left
}
