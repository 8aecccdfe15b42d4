import { LRUCache } from 'lru-cache'
import { isApiKey, secretHash } from '../../schemas/api-key.ts'
import type { Clock } from '../../runtime/clock.ts'
import { ApiError } from '../../runtime/errors.ts'
import type { HttpContext } from '../../runtime/http.ts'
import { isInForce, type KeyGrant, type Scope } from '../../store/back-office.ts'
import type { AuthFailures } from './auth-failures.ts'
import type { Grants } from './grants.ts'
import type { KeyUsage } from './key-usage.ts'

/**
 * The grant behind an `Authorization: Bearer` header (specification section 5, RFC 6750).
 * @throws {ApiError} the same 401 for every invalid key; 429 if too many came from its address,
 *   unless the key was good in the last hour; 503 if the key cannot be checked now.
 */
export async function authenticate(
  ctx: HttpContext,
  { grants, failures, clock }: { grants: Grants; failures: AuthFailures; clock: Clock },
): Promise<KeyGrant> {
  const authorization = ctx.get('authorization')
  const hash = hashIn(authorization)
  const grant = hash && (await grants.find(hash, () => failures.check(ctx.ip)))
  // Checked for each request, because a cached grant may have expired meanwhile.
  if (grant !== undefined && isInForce(grant, clock.now())) return grant
  const tooMany = await failures.count(ctx.ip)
  if (tooMany !== undefined && !(hash && grants.wasGood(hash))) throw tooMany
  throw unauthorized(authorization !== '')
}

/** By header, because reading and hashing it takes longer than the rest of the check. */
const hashes = new LRUCache<string, Buffer>({ max: 10_000 })

/** The hash of the key in an `Authorization` header; undefined if it has the shape of none. */
function hashIn(authorization: string): Buffer | undefined {
  const known = hashes.get(authorization)
  if (known !== undefined) return known
  const token = /^bearer +([^\s]+) *$/i.exec(authorization)?.[1]
  if (token === undefined || !isApiKey(token)) return undefined
  const hash = secretHash(token)
  hashes.set(authorization, hash)
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
