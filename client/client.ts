import { outcomeIn, outcomesIn, type Answer, type Later } from './answer.ts'
import { post, type Target } from './post.ts'
import type { Outcome, Report, TimedReport } from './report.ts'
import { retrying, type Patience } from './retry.ts'

export type { Outcome, Refusal, Report, TimedReport } from './report.ts'

export type GpsClient = {
  /** Sends a report until it is accepted or refused. Never rejects because of the service. */
  submit(report: Report, options?: Sending): Promise<Outcome>
  /** Sends 1 to 1000 reports together. Resolves with an outcome for each, in their order. */
  submitBatch(reports: readonly TimedReport[], options?: Sending): Promise<Outcome[]>
}

export type Sending = {
  /** When aborted, nothing is sent again, and a request in flight is cancelled. */
  readonly signal?: AbortSignal | undefined
}

export const BATCH = '/api/v1/gps/batch'

/**
 * Sends reports to the ingest API. Retries requests that may succeed later (408, 429, 5xx, no answer);
 * the service stores a report once, however often it arrives.
 */
export function gpsClient(options: Target & Patience): GpsClient {
  const retry = retrying(options)
  return {
    async submit(report, { signal = NEVER } = {}) {
      const body = JSON.stringify(report)
      // The service recognises repeats of a report with a timestamp.
      const idempotencyKey = report.timestamp === undefined ? crypto.randomUUID() : undefined
      const request = { path: '/api/v1/gps/submit', body, idempotencyKey, signal }
      return retry(() => post(options, request), outcomeIn, signal)
    },

    async submitBatch(reports, { signal = NEVER } = {}) {
      const outcomes = new Map<TimedReport, Outcome>()
      let open = reports
      const send = () =>
        post(options, { path: BATCH, body: JSON.stringify({ reports: open }), signal })
      const end = await retry(send, judge, signal)
      return reports.map((report) => outcomes.get(report) ?? end)

      /** Settles the open reports, all of them alike if the answer has no individual results. */
      function judge(answer: Answer): Outcome | Later {
        const found = outcomesIn(answer, open.length)
        if (found === undefined) return outcomeIn(answer)
        open.forEach((report, index) => {
          const outcome = found[index]
          if (outcome !== undefined && outcome.kind !== 'later') outcomes.set(report, outcome)
        })
        open = open.filter((report) => !outcomes.has(report))
        return found.find(({ kind }) => kind === 'later') ?? { kind: 'stopped' }
      }
    },
  }
}

const NEVER = new AbortController().signal
