import { ApiError } from '../../runtime/errors.ts'
import { isoTime } from '../../schemas/iso-8601.ts'
import type { Accept } from '../accept/accept.ts'
import { rateLimitHeaders } from '../accept/allowance.ts'
import type { PositionOutcome, Refused } from '../accept/outcome.ts'
import type { Endpoint } from '../requests/endpoint.ts'
import { idempotencyKey } from '../requests/idempotency-key.ts'
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
  return async function submitPosition(ctx) {
    const { grant, reports, withinMs, allowance } = await receive(ctx, {
      limitBytes: LIMIT_BYTES,
      reportsIn: ({ json, chunks }) => [{ json, chunks, ...idempotencyKey(ctx) }],
    })
    const { outcomes, deviceAllowance } = await accept(grant, reports, { withinMs })
    const [outcome] = outcomes
    if (outcome === undefined) throw new Error('a report has no outcome')
    ctx.state.headers.push(...rateLimitHeaders(allowance, deviceAllowance))
    return answer(outcome)
  }
}

function answer(outcome: PositionOutcome) {
  switch (outcome.kind) {
    case 'accepted': {
      const { recordId } = outcome
      const receivedAt = isoTime(outcome.receivedAt)
      return { message: 'Position accepted', data: { recordId, receivedAt } }
    }
    case 'refused':
      throw refusal(outcome)
  }
}

function refusal({ error, message, details, retryAfterSeconds }: Refused): ApiError {
  return new ApiError(error, message, {
    ...(details !== undefined && { details }),
    ...(retryAfterSeconds !== undefined && {
      headers: { 'Retry-After': String(retryAfterSeconds) },
    }),
  })
}
