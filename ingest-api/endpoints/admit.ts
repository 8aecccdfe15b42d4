import { TEST_REPORT_HEADER, type AuthFailures } from '../../runtime/auth-failures.ts'
import { clientAddress } from '../../runtime/client-address.ts'
import type { Clock } from '../../runtime/clock.ts'
import { ApiError } from '../../runtime/errors.ts'
import { secretHash } from '../../schemas/api-key.ts'
import type { ApiKey, KeyGrant, Scope } from '../../store/back-office.ts'
import {
  beyondKeyLimit,
  rateLimitHeaders,
  type Allowance,
  type KeyLimit,
} from '../accept/limits.ts'
import type { ReportMetrics } from '../accept/report-metrics.ts'
import { authenticate, authorize, type Credentials } from '../keys/authenticate.ts'
import type { KeyCache } from '../keys/key-cache.ts'
import type { KeyUsage } from '../keys/key-usage.ts'
import { overloaded } from '../requests/read-body.ts'
import { headerOf, type SenderRequest } from '../requests/sender-request.ts'

/** The longest that a request waits for store and log together; its answer must be sent within 6 s. */
const WAITS_MS = 5_400

/** A request whose key may report. */
export type Admission = {
  readonly grant: KeyGrant
  /** The key's remaining allowance after the first report. */
  readonly allowance: Allowance | undefined
  /** The time that the request may still wait for the log. */
  readonly withinMs: number
}

export type Admit = (
  request: SenderRequest,
  options: {
    readonly credentials: Credentials
    readonly scope: Scope
    readonly keyLimit: KeyLimit
    /** The app whose format the request has. */
    readonly app?: string
  },
) => Promise<Admission>

/**
 * The checks before a body is read: a valid key with the right scope, and its limit, against which
 * the first report counts. A failure here counts as one report.
 */
export function admitSenders({
  keyCache,
  failures,
  usage,
  metrics,
  clock,
  trustProxy,
  testSecret,
}: {
  readonly keyCache: KeyCache
  readonly failures: AuthFailures
  readonly usage: KeyUsage
  readonly metrics: ReportMetrics
  readonly clock: Clock
  readonly trustProxy: number
  /** Marks the test reports of this process; absent: it sends none. */
  readonly testSecret?: string | undefined
}): Admit {
  const testHash = testSecret === undefined ? undefined : secretHash(testSecret)

  /** The address that a failure counts for; none for a test report of this process. */
  function addressOf(request: SenderRequest): string | undefined {
    const sent = headerOf(request, TEST_REPORT_HEADER)
    const isOwnTest = testHash?.equals(secretHash(sent)) === true
    return isOwnTest ? undefined : clientAddress(request.http, { trustProxy })
  }

  return async function admit(request, { credentials, scope, keyLimit, app }) {
    let key: ApiKey | undefined
    try {
      const started = performance.now()
      // The server refuses only requests with a body.
      if (!request.hasPlace) throw overloaded()
      const address = () => addressOf(request)
      const grant = await authenticate(credentials, { address, keyCache, failures, clock })
      key = grant.key
      request.key = key
      authorize(grant, { scope, usage, clock })
      const allowance = await keyLimit.take(key, 1)
      if (allowance !== undefined && allowance.over > 0) {
        request.answerHeaders.push(...rateLimitHeaders(allowance))
        throw exhausted(allowance)
      }
      const withinMs = Math.max(0, WAITS_MS - (performance.now() - started))
      return { grant, allowance, withinMs }
    } catch (error) {
      metrics.failed(error, { reports: 1, key, app })
      throw error
    }
  }
}

export function exhausted(allowance: Allowance): ApiError {
  return new ApiError('RATE_LIMITED', beyondKeyLimit(allowance), {
    headers: { 'Retry-After': String(allowance.resetSeconds) },
  })
}
