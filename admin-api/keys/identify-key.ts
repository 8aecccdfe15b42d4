import { succeed } from '../../runtime/http/http.ts'
import type { RateLimit } from '../../runtime/limits/rate-counters.ts'
import { ApiError } from '../../runtime/errors.ts'
import { isApiKey, secretHash } from '../../schemas/access/api-key.ts'
import type { ApiKey, KeyGrant, Keys } from '../../store/keys.ts'
import { route, type AdminContext, type AdminRoute, type Input } from '../http/admin-route.ts'
import { actorId, type Caller } from '../http/caller.ts'
import type { Resource } from '../http/resource.ts'
import { text, type InputOf } from '../http/rule.ts'
import { callRate } from '../http/caller-limits.ts'

/** A key pasted by an operator, as the field of a body. Errors never repeat its value. */
export const PASTED_KEY = text({
  max: 256,
  expected: 'key must be the secret of an API key, gps_ and 38 characters',
}).required()

const SECRET = { key: PASTED_KEY }

/** Finds the key that a secret belongs to. */
export function identifyKeyRoute({
  store,
  keys,
  pastedKeyLimit: limit,
}: {
  store: Pick<Keys, 'findGrant'>
  keys: Pick<Resource<ApiKey>, 'view' | 'schema'>
  pastedKeyLimit?: RateLimit | 'off' | undefined
}): AdminRoute {
  const ownKey = ownKeys({ store, limit })

  async function identify(
    ctx: AdminContext,
    caller: Caller,
    { body: { key: secret } }: Input<object, InputOf<typeof SECRET>>,
  ): Promise<void> {
    const { key } = await ownKey(caller, secret)
    succeed(ctx, keys.view(key, caller))
  }

  return route({
    method: 'POST',
    path: '/keys/identify',
    summary: 'Finds the API key a secret belongs to',
    description:
      'Also finds revoked and expired keys, and secrets replaced by a rotation. At most 10 times in 60 s.',
    needs: 'admin',
    body: SECRET,
    bodyExample: { key: 'gps_…' },
    answer: { data: keys.schema },
    errors: ['NOT_FOUND'],
    handle: identify,
  })
}

/**
 * Finds a key of the caller's own account by a pasted secret, even if revoked or expired. Every
 * call is counted, whatever the secret.
 */
export function ownKeys({
  store,
  limit = { points: 10, seconds: 60 },
}: {
  store: Pick<Keys, 'findGrant'>
  limit?: RateLimit | 'off' | undefined
}) {
  const rate = callRate(limit, 'such calls')
  /** @throws {ApiError} the same 404 for an unknown key and for another account's key, or 429. */
  return async function ownKey(caller: Caller, secret: string): Promise<KeyGrant> {
    await rate.count(actorId(caller))
    const grant = isApiKey(secret) ? await store.findGrant(secretHash(secret)) : undefined
    if (grant?.key.accountId === caller.accountId) return grant
    throw new ApiError('NOT_FOUND', 'no key of this account has this secret')
  }
}
