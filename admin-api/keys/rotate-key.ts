import type { Clock } from '../../runtime/clock.ts'
import { ApiError } from '../../runtime/errors.ts'
import { succeed } from '../../runtime/http/http.ts'
import { keyHint, newApiKey, secretHash } from '../../schemas/access/api-key.ts'
import { keyStatus, type Keys } from '../../store/keys.ts'
import { route, type AdminContext, type AdminRoute, type Input } from '../http/admin-route.ts'
import type { Caller } from '../http/caller.ts'
import { GRACE } from '../http/grace-seconds.ts'
import { requireKnown, type Resource } from '../http/resource.ts'
import type { InputOf } from '../http/rule.ts'
import type { ShownKey } from './key-rules.ts'

/** Gives a key a new secret; senders can use the old one for a while. */
export function rotateKeyRoute({
  store,
  clock,
  keys,
}: {
  store: Pick<Keys, 'rotateKey'>
  clock: Clock
  keys: Resource<ShownKey>
}): AdminRoute {
  async function rotate(
    ctx: AdminContext,
    caller: Caller,
    { body: { graceSeconds } }: Input<object, InputOf<typeof GRACE>>,
  ): Promise<void> {
    const now = clock.now()
    const before = await keys.findOne(ctx, caller)
    if (keyStatus(before, now) === 'expired') {
      throw conflict('this key has expired: set a later expiresAt first')
    }
    const secret = newApiKey()
    const previousValidUntil = now + graceSeconds * 1000
    const rotated = await store.rotateKey({
      accountId: caller.accountId,
      keyId: before.id,
      secretHash: secretHash(secret),
      hint: keyHint(secret),
      previousValidUntil,
    })
    if (rotated === 'revoked') throw conflict('this key is revoked for good: make another one')
    const key = requireKnown('key', rotated)
    await keys.record(ctx, caller, 'key.rotated', { id: key.id, details: { graceSeconds } })
    succeed(ctx, keys.view({ ...key, key: secret }, caller), {
      message: 'keep the key, it is shown this once',
    })
  }

  return route({
    method: 'POST',
    path: '/keys/:id/rotate',
    summary: 'Gives an API key a new secret, shown only in this answer',
    description:
      'The secret until now works for `graceSeconds` more (7 days unless given, 30 at most); ' +
      'one from before that no longer, so rotate again only once senders have the new one.',
    needs: 'admin',
    body: GRACE,
    bodyExample: { graceSeconds: 86_400 },
    bodyMayBeAbsent: true,
    answer: { data: keys.schemaWithSecret },
    errors: ['CONFLICT'],
    handle: rotate,
  })
}

function conflict(message: string): ApiError {
  return new ApiError('CONFLICT', message)
}
