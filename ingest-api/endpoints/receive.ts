import { toApiError } from '../../runtime/errors.ts'
import type { InFlight } from '../../runtime/load.ts'
import type { Scope } from '../../store/back-office.ts'
import type { SubmittedPosition } from '../accept/outcome.ts'
import { rateLimitHeaders, type KeyLimit } from '../accept/limits.ts'
import type { ReportMetrics } from '../accept/report-metrics.ts'
import { bearerIn } from '../keys/authenticate.ts'
import { parseJson, readJson, type JsonBody } from '../requests/read-json.ts'
import { headerOf, type SenderRequest } from '../requests/sender-request.ts'
import type { WorkTurns } from '../requests/work-turns.ts'
import type { Admission, Admit } from './admit.ts'

export type Receive = (
  request: SenderRequest,
  options: {
    readonly limitBytes: number
    /** @throws {ApiError} 400 if the body does not have the endpoint's shape. */
    readonly reportsIn: (body: JsonBody) => readonly SubmittedPosition[]
  },
) => Promise<Admission & { readonly reports: readonly SubmittedPosition[] }>

/** A request in our own format: a key as Bearer, a JSON body. A failure here counts as one report. */
export function receiveReports({
  admit,
  scope,
  keyLimit,
  metrics,
  load,
  turnsFor,
}: {
  readonly admit: Admit
  readonly scope: Scope
  readonly keyLimit: KeyLimit
  readonly metrics: ReportMetrics
  readonly load: InFlight
  /** The turns in which a body of this size is worked on; none: at once. */
  readonly turnsFor: (bytes: number) => WorkTurns | undefined
}): Receive {
  return async function receive(request, { limitBytes, reportsIn }) {
    const credentials = bearerIn(headerOf(request, 'authorization'))
    const admission = await admit(request, { credentials, scope, keyLimit })
    const chunks: Buffer[] = []
    try {
      const bytes = await readJson(request, { limitBytes, chunks, load })
      // A spread of `admission` would cost an eighth of the CPU time of the whole ingest app.
      const { grant, allowance } = admission
      let { withinMs } = admission
      const turns = turnsFor(bytes.length)
      if (turns !== undefined) withinMs -= await turns.begin(request)
      return { grant, allowance, withinMs, reports: reportsIn({ json: parseJson(bytes), chunks }) }
    } catch (error) {
      const { grant, allowance } = admission
      metrics.failed(error, { reports: 1, key: grant.key, received: { chunks } })
      // The Retry-After of a 503 ends sooner than the limit resets.
      if (toApiError(error).status !== 503) {
        request.answerHeaders.push(...rateLimitHeaders(allowance))
      }
      throw error
    }
  }
}
