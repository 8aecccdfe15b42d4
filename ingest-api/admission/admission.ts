import { LRUCache } from 'lru-cache'
import { TEST_REPORT_HEADER, type AuthFailures } from '../../runtime/limits/auth-failures.ts'
import { clientAddress } from '../../runtime/http/client-address.ts'
import type { Clock } from '../../runtime/clock.ts'
import { ApiError } from '../../runtime/errors.ts'
import { bearerToken, insufficientScope, unauthorized } from '../../runtime/http/http-request.ts'
import { isApiKey, secretHash } from '../../schemas/access/api-key.ts'
import { isInForce, type KeyGrant, type Scope } from '../../store/keys.ts'
import {
  describeKeyLimit,
  rateLimitHeaders,
  type Allowance,
  type KeyAllowance,
  type KeyLimit,
} from '../accept/limits.ts'
import type { KeyCache, KeyUsage } from './keys.ts'
import { headerOf, overloadedError, shareTaken, type SenderRequest } from './sender-request.ts'

/** A request whose key may report, with the key's allowance after the first report. */
export type Admission = {
  readonly grant: KeyGrant
  readonly allowance: KeyAllowance | undefined
}

export type Admit = (
  request: SenderRequest,
  options: {
    readonly credentials: Credentials
    readonly scope: Scope
    readonly keyLimit: KeyLimit
  },
) => Promise<Admission>

/** A key as sent in a request. */
export type Credentials = {
  /** The hash of its secret; undefined if no text has the shape of a key. */
  readonly hash: Buffer | undefined
  /** Whether the request had any text where a key belongs. */
  readonly isSent: boolean
  /** Describes where to send a key, for the error message. */
  readonly expectedIn: string
}

/**
 * Checks a request before its body is read, in this order: a valid key, its scope, its limit,
 * against which the first report counts. The remaining checks need the body (`body.ts`): the key's
 * device list and the devices' limits (`accept/`).
 */
export function admitSenders({
  keyCache,
  failures,
  usage,
  clock,
  trustProxy,
  testSecret,
}: {
  readonly keyCache: KeyCache
  readonly failures: AuthFailures
  readonly usage: KeyUsage
  readonly clock: Clock
  readonly trustProxy: number
  /** Marks this process's own test reports; absent if the process sends none. */
  readonly testSecret?: string | undefined
}): Admit {
  const testHash = testSecret === undefined ? undefined : secretHash(testSecret)

  return async function admit(request, { credentials, scope, keyLimit }) {
    // Only requests with a body are rejected by the server itself.
    if (!request.hasPlace) throw overloadedError()
    const grant = await authenticate(request, credentials)
    request.key = grant.key
    if (!request.place.takePlaceOf(grant.key.accountId)) throw await shareTaken()
    authorize(grant, scope)
    const allowance = await keyLimit.take(grant.key, 1)
    if (allowance !== undefined && allowance.over > 0) {
      request.answerHeaders.push(...rateLimitHeaders(allowance))
      throw keyLimitError(allowance)
    }
    return { grant, allowance }
  }

  /**
   * The grant for these credentials. An invalid key counts as another failure of the address.
   * @throws {ApiError} the same 401 for every invalid key; 429 if too many failures came from the
   * address, unless the key was valid in the last hour; 503 if the key cannot be checked now.
   *   unless the key was valid in the last hour; 503 if the key cannot be checked now.
   */
  async function authenticate(request: SenderRequest, credentials: Credentials): Promise<KeyGrant> {
    const { hash } = credentials
    const mayAsk = (id: string) => failures.check({ hash: id, address: addressOf(request) })
    const grant = hash && (await keyCache.find(hash, mayAsk))
    // Checked for each request: a cached grant may have expired since.
    if (grant !== undefined && isInForce(grant, clock.now())) return grant
    if (grant !== undefined) usage.noteRefusal(grant.key.id, clock.now())
    await failures.count({ hash: hash?.toString('base64'), address: addressOf(request) })
    throw unauthorized(credentials.expectedIn, credentials)
  }

  /**
   * Returns the address a failure is counted against; undefined for this process's own test
   * reports.
   */
  function addressOf(request: SenderRequest): string | undefined {
    const sent = headerOf(request, TEST_REPORT_HEADER)
    const isOwnTest = testHash?.equals(secretHash(sent)) === true
    return isOwnTest ? undefined : clientAddress(request.http, { trustProxy })
  }

  /**
   * Checks that the key has `scope`, and records its use.
   * @throws {ApiError} 403 if the key lacks the scope or its account is suspended.
   */
  function authorize({ key, accountSuspended }: KeyGrant, scope: Scope): void {
    if (!key.scopes.includes(scope)) throw insufficientScope(scope)
    if (accountSuspended) throw new ApiError('FORBIDDEN', 'the account is suspended')
    usage.note(key.id, clock.now())
  }
}

/** The 429 of a key that has used up its limit. */
export function keyLimitError(allowance: Allowance): ApiError {
  return new ApiError('RATE_LIMITED', describeKeyLimit(allowance), {
    headers: { 'Retry-After': String(allowance.resetSeconds) },
  })
}

/** The key in an `Authorization: Bearer` header. */
export function readBearer(request: SenderRequest): Credentials {
  const authorization = headerOf(request, 'authorization')
  const token = bearerToken(authorization)
  return {
    hash: token === undefined ? undefined : hashOf(token),
    isSent: authorization !== '',
    expectedIn: 'send a valid API key in the header Authorization: Bearer <API_KEY>',
  }
}

/** The hash of a key; undefined if the text does not have the shape of a key. */
export function hashOf(token: string): Buffer | undefined {
  const known = hashes.get(token)
  if (known !== undefined || !isApiKey(token)) return known
  const hash = secretHash(token)
  hashes.set(token, hash)
  return hash
}

/**
 * Cached by secret; without this, a single report costs the ingest app 8 % more (bench/NOTES.md).
 */
const hashes = new LRUCache<string, Buffer>({ max: 10_000 })
