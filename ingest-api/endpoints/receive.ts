import type { Clock } from '../../runtime/clock.ts'
import { ApiError } from '../../runtime/errors.ts'
import { toApiError, type HttpContext } from '../../runtime/http.ts'
import type { Load } from '../../runtime/load.ts'
import type { ApiKey, KeyGrant } from '../../store/back-office.ts'
import type { SubmittedPosition } from '../accept/accept.ts'
import { rateLimitHeaders, type Allowance } from '../accept/allowance.ts'
import { beyondKeyLimit, type KeyAllowance, type KeyLimit } from '../accept/key-limit.ts'
import type { Tally } from '../accept/tally.ts'
import type { AuthFailures } from '../../runtime/auth-failures.ts'
import { authenticate, authorize } from '../keys/authenticate.ts'
import type { KeyCache } from '../keys/key-cache.ts'
import type { KeyUsage } from '../keys/key-usage.ts'
import type { ReportState } from '../requests/endpoint.ts'
import { readJson, type JsonBody } from '../requests/read-json.ts'

/** The longest that a request waits for store and log together; its answer must be sent within 6 s. */
export const WAITS_MS = 5_400

/** The parts of the app that every way of reporting uses. */
export type Receiving = {
  readonly keyCache: KeyCache
  readonly failures: AuthFailures
  readonly usage: KeyUsage
  readonly keyLimit: KeyLimit
  readonly tally: Tally
  readonly load: Load
  readonly clock: Clock
}

/** A request whose key may report, and its reports. */
export type ReportRequest = {
  readonly grant: KeyGrant
  readonly reports: readonly SubmittedPosition[]
  /** The key's remaining allowance after the first report. */
  readonly allowance: Allowance | undefined
  /** The time that it may still wait for the log. */
  readonly withinMs: number
}

export type Receive = (
  ctx: HttpContext<ReportState>,
  options: {
    readonly limitBytes: number
    /** @throws {ApiError} 400 if the body does not have the endpoint's shape. */
    readonly reportsIn: (body: JsonBody) => readonly SubmittedPosition[]
  },
) => Promise<ReportRequest>

/**
 * The checks that every reporting endpoint shares: a valid key with the right scope, its limit, a
 * JSON body. A failure here counts as one report.
 */
export function receiveReports({
  keyCache,
  failures,
  usage,
  keyLimit,
  tally,
  load,
  clock,
}: Receiving): Receive {
  return async function receive(ctx, { limitBytes, reportsIn }) {
    const chunks: Buffer[] = []
    let key: ApiKey | undefined
    let allowance: KeyAllowance | undefined
    try {
      const started = performance.now()
      const grant = await authenticate(ctx, { keyCache, failures, clock })
      key = grant.key
      authorize(grant, { scope: 'positions:write', usage, clock })
      allowance = await keyLimit.take(key, 1)
      const withinMs = Math.max(0, WAITS_MS - (performance.now() - started))
      if (allowance !== undefined && allowance.over > 0) throw exhausted(allowance)
      const reports = reportsIn(await readJson(ctx, { limitBytes, chunks, load }))
      return { grant, reports, withinMs, allowance }
    } catch (error) {
      const known = key === undefined ? {} : { key, received: { chunks } }
      tally.failed(error, { reports: 1, ...known })
      // The Retry-After of a 503 ends sooner than the limit resets.
      if (toApiError(error).status !== 503) ctx.state.headers.push(...rateLimitHeaders(allowance))
      throw error
    }
  }
}

function exhausted(allowance: KeyAllowance): ApiError {
  return new ApiError('RATE_LIMITED', beyondKeyLimit(allowance), {
    headers: { 'Retry-After': String(allowance.resetSeconds) },
  })
}
