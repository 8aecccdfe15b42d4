import { LRUCache } from 'lru-cache'
import { isApiKey, secretHash } from '../../schemas/api-key.ts'
import type { AuthFailures } from '../../runtime/auth-failures.ts'
import type { Clock } from '../../runtime/clock.ts'
import { ApiError } from '../../runtime/errors.ts'
import { isInForce, type KeyGrant, type Scope } from '../../store/back-office.ts'
import type { KeyCache } from './key-cache.ts'
import type { KeyUsage } from './key-usage.ts'

/** A key as a request carries it. */
export type Credentials = {
  /** The hash of its secret; undefined if no text has the shape of a key. */
  readonly hash: Buffer | undefined
  /** Whether a text was sent where a key belongs. */
  readonly isSent: boolean
  /** The places for a key, for the error. */
  readonly expectedIn: string
}

/** The key in an `Authorization: Bearer` header (specification section 5, RFC 6750). */
export function bearerIn(authorization: string): Credentials {
  const token = bearerToken(authorization)
  return {
    hash: token === undefined ? undefined : hashOf(token),
    isSent: authorization !== '',
    expectedIn: 'send a valid API key in the header Authorization: Bearer <API_KEY>',
  }
}

export function bearerToken(authorization: string): string | undefined {
  return /^bearer +([^\s]+) *$/i.exec(authorization)?.[1]
}

/** The hash of a key; undefined if the text does not have the shape of a key. */
export function hashOf(token: string): Buffer | undefined {
  const known = hashes.get(token)
  if (known !== undefined || !isApiKey(token)) return known
  const hash = secretHash(token)
  hashes.set(token, hash)
  return hash
}

/** By secret: without it the ingest app spends 8 % more on a single report (bench/NOTES.md). */
const hashes = new LRUCache<string, Buffer>({ max: 10_000 })

/**
 * The grant behind credentials. An invalid key counts as one more failure of the address.
 * @throws {ApiError} the same 401 for every invalid key; 429 if too many failures came from the address,
 *   unless the key was valid in the last hour; 503 if the key cannot be checked now.
 */
export async function authenticate(
  credentials: Credentials,
  {
    address,
    keyCache,
    failures,
    clock,
  }: {
    readonly address: () => string | undefined
    readonly keyCache: KeyCache
    readonly failures: AuthFailures
    readonly clock: Clock
  },
): Promise<KeyGrant> {
  const { hash } = credentials
  const grant = hash && (await keyCache.find(hash, () => failures.check(address())))
  // Checked for each request, because a cached grant may have expired meanwhile.
  if (grant !== undefined && isInForce(grant, clock.now())) return grant
  const tooMany = await failures.count(address())
  throw tooMany !== undefined && !(hash && keyCache.wasGood(hash))
    ? tooMany
    : unauthorized(credentials)
}

/**
 * Checks that the key has `scope`, and notes its use.
 * @throws {ApiError} 403 if the key lacks the scope or its account is suspended.
 */
export function authorize(
  { key, accountSuspended }: KeyGrant,
  { scope, usage, clock }: { scope: Scope; usage: KeyUsage; clock: Clock },
): void {
  if (!key.scopes.includes(scope)) throw insufficientScope(scope)
  if (accountSuspended) throw new ApiError('FORBIDDEN', 'the account is suspended')
  usage.note(key.id, clock.now())
}

function unauthorized({ isSent, expectedIn }: Credentials): ApiError {
  const challenge = isSent ? 'Bearer realm="gps", error="invalid_token"' : 'Bearer realm="gps"'
  return new ApiError('UNAUTHORIZED', expectedIn, { headers: { 'WWW-Authenticate': challenge } })
}

function insufficientScope(scope: Scope): ApiError {
  return new ApiError('FORBIDDEN', `this API key lacks the scope ${scope}`, {
    headers: {
      'WWW-Authenticate': `Bearer realm="gps", error="insufficient_scope", scope="${scope}"`,
    },
  })
}
