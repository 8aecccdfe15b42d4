import { isoTime } from '../../schemas/iso-8601.ts'
import { withMisspelt } from '../../schemas/misspelt-fields.ts'
import type { Accept } from '../accept/accept.ts'
import type { SubmittedPosition } from '../accept/outcome.ts'
import { rateLimitHeaders } from '../accept/limits.ts'
import { refusalOf, type PositionOutcome } from '../accept/outcome.ts'
import { success, type SenderAnswer, type Endpoint } from './answer-senders.ts'
import { idempotencyKey } from '../requests/sender-request.ts'
import type { Receive } from './receive.ts'

const LIMIT_BYTES = 16 * 1024

/**
 * `POST /api/v1/gps/submit`: one report in, one `PositionReported` in the log, and 200 only once it
 * is durable there (specification section 4.1).
 */
export function submitPosition({
  receive,
  accept,
}: {
  receive: Receive
  accept: Accept
}): Endpoint {
  return {
    path: '/api/v1/gps/submit',
    async answer(request) {
      const { grant, reports, withinMs, allowance } = await receive(request, {
        limitBytes: LIMIT_BYTES,
        reportsIn: ({ json, chunks }) => [{ json, chunks, ...idempotencyKey(request) }],
      })
      const { outcomes, deviceAllowance } = await accept(grant, reports, { withinMs })
      const [outcome] = outcomes
      if (outcome === undefined) throw new Error('a report has no outcome')
      request.answerHeaders.push(...rateLimitHeaders(allowance, deviceAllowance))
      return answerTo(outcome, reports)
    },
  }
}

function answerTo(outcome: PositionOutcome, reports: readonly SubmittedPosition[]): SenderAnswer {
  switch (outcome.kind) {
    case 'accepted': {
      const { recordId } = outcome
      const message = withMisspelt('Position accepted', [reports[0]?.json])
      return success(message, { recordId, receivedAt: isoTime(outcome.receivedAt) })
    }
    case 'refused':
      throw refusalOf(outcome)
  }
}
