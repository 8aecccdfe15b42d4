import { ApiError } from '../../runtime/errors.ts'
import type { RateLimit } from '../../runtime/rate-counters.ts'
import { isApiKey, secretHash } from '../../schemas/api-key.ts'
import type { KeyGrant, Keys } from '../../store/back-office.ts'
import { callRate } from '../http/call-rate.ts'
import { actorId, type Caller } from '../http/caller.ts'
import { text } from '../http/rule.ts'

/** A key that an operator has pasted, as the field of a body. Errors never repeat its value. */
export const PASTED_KEY = text({
  max: 256,
  expected: 'key must be the secret of an API key, gps_ and 38 characters',
}).required()

/**
 * Finds a key of the caller's own account by a pasted secret, even if the key is revoked or
 * expired. Each call is counted, with any secret.
 */
export function ownKeys({
  store,
  limit = { points: 10, seconds: 60 },
}: {
  store: Pick<Keys, 'findGrant'>
  limit?: RateLimit | 'off' | undefined
}) {
  const rate = callRate(limit, 'such calls')
  /** @throws {ApiError} 404 for an unknown key and for another account's key alike, or 429. */
  return async function ownKey(caller: Caller, secret: string): Promise<KeyGrant> {
    await rate.count(actorId(caller))
    const grant = isApiKey(secret) ? await store.findGrant(secretHash(secret)) : undefined
    if (grant?.key.accountId === caller.accountId) return grant
    throw new ApiError('NOT_FOUND', 'no key of this account has this secret')
  }
}
