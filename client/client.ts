import { parseOutcome } from './answer.ts'
import { post, type Target } from './post.ts'
import type { ReportOutcome, Report, TimedReport } from './report.ts'
import { retryUntilSettled, type Patience } from './retry.ts'
import { sendTogether } from './send-together.ts'

export type {
  Report,
  ReportOutcome as Outcome,
  ReportRefusal as Refusal,
  TimedReport,
} from './report.ts'

export type GpsClient = {
  /** Sends a report until it is accepted or rejected. Never rejects because of the service. */
  submit(report: Report, options?: Sending): Promise<ReportOutcome>
  /** Sends 1 to 1000 reports together. Resolves with an outcome for each, in their order. */
  submitBatch(reports: readonly TimedReport[], options?: Sending): Promise<ReportOutcome[]>
}

export type Sending = {
  /** When aborted, nothing is sent again, and a request in flight is cancelled. */
  readonly signal?: AbortSignal | undefined
}

export const BATCH = '/api/v1/gps/batch'

/**
 * Sends reports to the ingest API. Retries requests that may succeed later (408, 429, 5xx, no
 * response); the service stores a report once, however often it arrives.
 */
export function gpsClient(options: Target & Patience): GpsClient {
  const retry = retryUntilSettled(options)
  return {
    async submit(report, { signal = NEVER } = {}) {
      const body = JSON.stringify(report)
      // The service recognises repeats of a report with a timestamp.
      const idempotencyKey = report.timestamp === undefined ? crypto.randomUUID() : undefined
      const request = { path: '/api/v1/gps/submit', body, idempotencyKey, signal }
      return retry(() => post(options, request), parseOutcome, signal)
    },

    async submitBatch(reports, { signal = NEVER } = {}) {
      const { outcomes, end } = await sendTogether(reports, {
        target: options,
        path: BATCH,
        retry,
        signal,
      })
      return reports.map((report) => outcomes.get(report) ?? end)
    },
  }
}

const NEVER = new AbortController().signal
