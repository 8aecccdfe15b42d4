import { LRUCache } from 'lru-cache'
import { isApiKey, secretHash } from '../../schemas/api-key.ts'
import { type AuthFailures, clientOf, TEST_REPORT_HEADER } from '../../runtime/auth-failures.ts'
import type { Clock } from '../../runtime/clock.ts'
import { ApiError } from '../../runtime/errors.ts'
import type { HttpContext } from '../../runtime/http.ts'
import { isInForce, type KeyGrant, type Scope } from '../../store/back-office.ts'
import type { KeyCache } from './key-cache.ts'
import type { KeyUsage } from './key-usage.ts'

type Authentication = {
  readonly keyCache: KeyCache
  readonly failures: AuthFailures
  readonly clock: Clock
}

/**
 * The grant behind an `Authorization: Bearer` header (specification section 5, RFC 6750).
 * @throws {ApiError} the same 401 for every invalid key; otherwise as `grantBehind`.
 */
export async function authenticate(
  ctx: HttpContext,
  authentication: Authentication,
): Promise<KeyGrant> {
  const authorization = ctx.get('authorization')
  const isTest = ctx.get(TEST_REPORT_HEADER) !== ''
  const address = isTest ? `test from ${clientOf(ctx.ip)}` : ctx.ip
  const grant = await grantBehind(hashIn(authorization), address, authentication)
  if (grant === undefined) throw unauthorized(authorization !== '')
  return grant
}

/**
 * The grant behind a secret's hash; undefined, and one more failure of the address, if the secret is
 * not valid, or none was sent.
 * @throws {ApiError} 429 if too many failures came from the address, unless the key was valid in the
 *   last hour; 503 if the key cannot be checked now.
 */
export async function grantBehind(
  hash: Buffer | undefined,
  address: string,
  { keyCache, failures, clock }: Authentication,
): Promise<KeyGrant | undefined> {
  const grant = hash && (await keyCache.find(hash, () => failures.check(address)))
  // Checked for each request, because a cached grant may have expired meanwhile.
  if (grant !== undefined && isInForce(grant, clock.now())) return grant
  const tooMany = await failures.count(address)
  if (tooMany !== undefined && !(hash && keyCache.wasGood(hash))) throw tooMany
  return undefined
}

/** Hashes by the text sent, because parsing and hashing it takes longer than the rest of the check. */
const hashes = new LRUCache<string, Buffer>({ max: 10_000 })

/** The hash of the key in an `Authorization` header; undefined if it does not have the shape of a key. */
function hashIn(authorization: string): Buffer | undefined {
  const known = hashes.get(authorization)
  if (known !== undefined) return known
  const token = /^bearer +([^\s]+) *$/i.exec(authorization)?.[1]
  const hash = token === undefined ? undefined : hashOf(token)
  if (hash !== undefined) hashes.set(authorization, hash)
  return hash
}

/** The hash of a key; undefined if the text does not have the shape of a key. */
export function hashOf(token: string): Buffer | undefined {
  const known = hashes.get(token)
  if (known !== undefined) return known
  if (!isApiKey(token)) return undefined
  const hash = secretHash(token)
  hashes.set(token, hash)
  return hash
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

function unauthorized(tokenSent: boolean): ApiError {
  const challenge = tokenSent ? 'Bearer realm="gps", error="invalid_token"' : 'Bearer realm="gps"'
  return new ApiError(
    'UNAUTHORIZED',
    'send a valid API key in the header Authorization: Bearer <API_KEY>',
    { headers: { 'WWW-Authenticate': challenge } },
  )
}

function insufficientScope(scope: Scope): ApiError {
  return new ApiError('FORBIDDEN', `this API key lacks the scope ${scope}`, {
    headers: {
      'WWW-Authenticate': `Bearer realm="gps", error="insufficient_scope", scope="${scope}"`,
    },
  })
}
