import { randomBytes } from 'node:crypto'
import { ulid } from '../../../schemas/events/record-id.ts'
import type { ReportRejected } from '../../../schemas/events/report-rejected.ts'
import type { IngestHarness } from '../ingest-harness.ts'

/** The durable rejections of a key in the log. Nothing is flushed for that. */
export async function rejectionsOf(
  { eventLog, clock }: Pick<IngestHarness, 'eventLog' | 'clock'>,
  keyId: string,
): Promise<ReportRejected[]> {
  const found: ReportRejected[] = []
  const receivedAt = clock.now()
  const reading = new AbortController()
  // After all earlier entries.
  const rejectionId = ulid(receivedAt, randomBytes(10))
  const told = { accountId: 'acc-1', keyId: 'last', receivedAt, message: 'last', count: 1 }
  await eventLog.rejections.append([{ ...told, rejectionId, error: 'FORBIDDEN' }])
  await eventLog.rejections.subscribe({
    group: rejectionId,
    signal: reading.signal,
    async onBatch(events) {
      found.push(...events)
      if (events.some((event) => event.rejectionId === rejectionId)) reading.abort()
    },
  })
  return found.filter((event) => event.keyId === keyId)
}
