import { invalidParams } from '../../runtime/errors.ts'
import { isoTime } from '../../schemas/iso-8601.ts'
import { withMisspelt } from '../../schemas/misspelt-fields.ts'
import type { Accept } from '../accept/accept.ts'
import type { SubmittedPosition } from '../accept/outcome.ts'
import { rateLimitHeaders } from '../accept/limits.ts'
import type { PositionOutcome } from '../accept/outcome.ts'
import { bodyFault } from '../requests/read-body.ts'
import { idempotencyKey, type SenderRequest } from '../requests/sender-request.ts'
import { success, type Endpoint } from './answer-senders.ts'
import type { Receive } from './receive.ts'

const LIMIT_BYTES = 1024 * 1024
export const MOST_REPORTS = 1000

/**
 * `POST /api/v1/gps/batch`: up to 1000 reports in, a result for each out. All accepted reports are
 * durable before the answer; a refused report does not affect the others. If the batch has an
 * Idempotency-Key, each report gets its own, made from it.
 */
export function submitBatch({ receive, accept }: { receive: Receive; accept: Accept }): Endpoint {
  return batchEndpoint('/api/v1/gps/batch', {
    receive,
    accept,
    reportsIn(reports, request) {
      const { idempotencyKey: header, faults } = idempotencyKey(request)
      if (faults !== undefined) throw invalidParams(faults)
      return reports.map((json, index) => ({
        json,
        ...(header !== undefined && { idempotencyKey: `${header} ${index}` }),
      }))
    },
  })
}

/** An endpoint whose body and answer are a batch's. */
export function batchEndpoint(
  path: string,
  {
    receive,
    accept,
    reportsIn,
  }: {
    readonly receive: Receive
    readonly accept: Accept
    /** @throws {ApiError} 400 if the request as a whole is faulty. */
    readonly reportsIn: (
      reports: readonly unknown[],
      request: SenderRequest,
    ) => readonly SubmittedPosition[]
  },
): Endpoint {
  return {
    path,
    async answer(request) {
      const { grant, reports, withinMs, allowance } = await receive(request, {
        limitBytes: LIMIT_BYTES,
        reportsIn: ({ json }) => reportsIn(listIn(json), request),
      })
      const { outcomes, keyAllowance = allowance } = await accept(grant, reports, { withinMs })
      request.answerHeaders.push(...rateLimitHeaders(keyAllowance))
      const results = outcomes.map(result)
      const accepted = outcomes.filter(({ kind }) => kind === 'accepted').length
      const rejected = outcomes.length - accepted
      const message = withMisspelt(
        `${accepted} accepted, ${rejected} rejected`,
        reports.map(({ json }) => json),
      )
      return success(message, { accepted, rejected, results })
    },
  }
}

/** @throws {ApiError} 400 if the body is not a batch. */
function listIn(json: unknown): readonly unknown[] {
  const reports =
    typeof json === 'object' && json !== null && Object.hasOwn(json, 'reports')
      ? (json as { reports: unknown }).reports
      : undefined
  if (Array.isArray(reports) && reports.length >= 1 && reports.length <= MOST_REPORTS) {
    return reports
  }
  throw bodyFault(`the body must be {"reports":[…]} with 1 to ${MOST_REPORTS} position reports`)
}

function result(outcome: PositionOutcome, index: number) {
  switch (outcome.kind) {
    case 'accepted': {
      const { recordId, receivedAt } = outcome
      return { index, recordId, receivedAt: isoTime(receivedAt) }
    }
    case 'refused':
      return { index, error: outcome.error, message: outcome.message }
  }
}
