import { ApiError, type Fault } from '../../runtime/errors.ts'
import { succeed, type HttpContext, type HttpMiddleware } from '../../runtime/http.ts'
import type { Accept } from '../accept/accept.ts'
import type { Outcome, Refused } from '../accept/outcome.ts'
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
}): HttpMiddleware {
  return async function submitPosition(ctx) {
    const { grant, body, withinMs } = await receive(ctx, { limitBytes: LIMIT_BYTES })
    const report = { ...body, ...idempotencyKey(ctx) }
    const [outcome] = await accept(grant, [report], { withinMs })
    if (outcome === undefined) throw new Error('a report has no outcome')
    answer(ctx, outcome)
  }
}

function answer(ctx: HttpContext, outcome: Outcome): void {
  switch (outcome.kind) {
    case 'accepted': {
      const { recordId } = outcome
      const receivedAt = new Date(outcome.receivedAt).toISOString()
      return succeed(ctx, { recordId, receivedAt }, { message: 'Position accepted' })
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

function idempotencyKey({ req }: HttpContext): {
  idempotencyKey?: string | undefined
  faults?: readonly Fault[]
} {
  const header = req.headers['idempotency-key']
  if (header === undefined) return {}
  if (typeof header === 'string' && /^[\x21-\x7e]{1,255}$/.test(header)) {
    return { idempotencyKey: header }
  }
  const message = 'Idempotency-Key must be 1 to 255 visible ASCII characters'
  return { faults: [{ field: 'Idempotency-Key', message }] }
}
