import type { Clock } from '../../runtime/clock.ts'
import { ApiError } from '../../runtime/errors.ts'
import type { HttpContext } from '../../runtime/http.ts'
import type { ApiKey, KeyGrant } from '../../store/back-office.ts'
import { beyondLimit, type KeyLimit } from '../accept/key-limit.ts'
import type { Tally } from '../accept/tally.ts'
import { authenticate, authorize } from '../keys/authenticate.ts'
import type { Grants } from '../keys/grants.ts'
import type { KeyUsage } from '../keys/key-usage.ts'
import { readJson, type JsonBody } from './read-json.ts'

/** How long a request waits for store and log together; the answer must be sent within 6 s. */
const WAITS_MS = 5_500

/** A request whose key may report, and its body. */
export type ReportRequest = {
  readonly grant: KeyGrant
  readonly body: JsonBody
  /** How long it may still wait for the log. */
  readonly withinMs: number
}

export type Receive = (
  ctx: HttpContext,
  options: { readonly limitBytes: number },
) => Promise<ReportRequest>

/**
 * The checks that every reporting endpoint shares: a valid key with the right scope, its limit, a
 * JSON body. A failure here counts as one report.
 */
export function receiveReports({
  grants,
  usage,
  keyLimit,
  tally,
  clock,
}: {
  grants: Grants
  usage: KeyUsage
  keyLimit: KeyLimit
  tally: Tally
  clock: Clock
}): Receive {
  return async function receive(ctx, { limitBytes }) {
    const chunks: Buffer[] = []
    let key: ApiKey | undefined
    try {
      const started = performance.now()
      const grant = await authenticate(ctx.get('authorization'), { grants, clock })
      key = grant.key
      authorize(grant, { scope: 'positions:write', usage, clock })
      const withinMs = Math.max(0, WAITS_MS - (performance.now() - started))
      await takeOne(ctx, keyLimit, key)
      const body = await readJson(ctx, { limitBytes, chunks })
      return { grant, body, withinMs }
    } catch (error) {
      const known = key === undefined ? {} : { key, received: { chunks } }
      tally.failed(error, { reports: 1, ...known })
      throw error
    }
  }
}

/**
 * Counts the first report against the key's limit, and sets the RateLimit headers
 * (draft-ietf-httpapi-ratelimit-headers-10).
 */
async function takeOne(ctx: HttpContext, keyLimit: KeyLimit, key: ApiKey): Promise<void> {
  const allowance = await keyLimit.take(key, 1)
  if (allowance === undefined) return
  const { points, seconds, left, over, resetSeconds } = allowance
  ctx.set({
    'RateLimit-Policy': `"key";q=${points};w=${seconds}`,
    RateLimit: `"key";r=${left};t=${resetSeconds}`,
  })
  if (over === 0) return
  throw new ApiError('RATE_LIMITED', beyondLimit(allowance), {
    headers: { 'Retry-After': String(resetSeconds) },
  })
}
