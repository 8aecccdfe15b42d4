import type { EventLog } from '../../event-log/event-log.ts'
import type { ReportRejected } from '../../schemas/events/report-rejected.ts'
import { reportRejected } from '../samples.ts'
import { aGroup } from './event-log-suite.ts'

/** Received just now: a broker drops events older than 7 days, by its own clock. */
export function rejected(changes: Partial<ReportRejected> = {}): ReportRejected {
  return reportRejected({ receivedAt: Date.now(), ...changes })
}

/** All with one key, so that they have an order. */
export function several(count: number): ReportRejected[] {
  return Array.from({ length: count }, () => rejected())
}

type Reading = {
  readonly group: string
  /** Accepts or rejects a batch; without it, all are accepted. */
  readonly onBatch: () => Promise<void>
  readonly signal: AbortSignal
}

/** Reads rejections as a member of a group until it is stopped. */
export function readRejections(
  log: EventLog,
  { group = aGroup(), onBatch, signal }: Partial<Reading> = {},
) {
  const taken: ReportRejected[] = []
  let attempts = 0
  const stopping = new AbortController()
  const ended = log.rejections.subscribe({
    group,
    signal: signal ?? stopping.signal,
    async onBatch(events) {
      attempts += 1
      await onBatch?.()
      taken.push(...events)
    },
  })
  return {
    taken,
    ended,
    ids: () => taken.map(({ rejectionId }) => rejectionId),
    attempts: () => attempts,
    stop() {
      stopping.abort()
      return ended
    },
  }
}
