import type { Clock } from '../../runtime/clock.ts'
import { ApiError } from '../../runtime/errors.ts'
import { succeed } from '../../runtime/http/http.ts'
import { keyHint, newApiKey, secretHash } from '../../schemas/access/api-key.ts'
import { keyStatus } from '../../store/keys.ts'
import type { Store } from '../../store/store.ts'
import {
  pathParameter,
  route,
  type AdminContext,
  type AdminRoute,
  type Input,
} from '../http/admin-route.ts'
import type { Caller } from '../http/caller.ts'
import { KEY_WITH_SECRET, keyViewWithSecret, requireKey } from './key-view.ts'
import { GRACE } from '../http/grace-seconds.ts'
import { recordAction } from '../http/record-action.ts'
import type { InputOf } from '../http/rule.ts'

/** Gives a key a new secret; senders can use the old one for a while. */
export function rotateKeyRoute({ store, clock }: { store: Store; clock: Clock }): AdminRoute {
  async function rotate(
    ctx: AdminContext,
    caller: Caller,
    { body: { graceSeconds } }: Input<object, InputOf<typeof GRACE>>,
  ): Promise<void> {
    const query = { accountId: caller.accountId, keyId: pathParameter(ctx, 'id') }
    const now = clock.now()
    if (keyStatus(requireKey(await store.findKey(query)), now) === 'expired') {
      throw conflict('this key has expired: set a later expiresAt first')
    }
    const secret = newApiKey()
    const previousValidUntil = now + graceSeconds * 1000
    const rotated = await store.rotateKey({
      ...query,
      secretHash: secretHash(secret),
      hint: keyHint(secret),
      previousValidUntil,
    })
    if (rotated === 'revoked') throw conflict('this key is revoked for good: make another one')
    const key = requireKey(rotated)
    const subject = { kind: 'key', id: key.id } as const
    const action = { action: 'key.rotated', subject, details: { graceSeconds } }
    await recordAction(ctx, caller, action, { store, clock })
    succeed(ctx, keyViewWithSecret(key, secret, now), {
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
    answer: { data: KEY_WITH_SECRET },
    errors: ['CONFLICT'],
    handle: rotate,
  })
}

function conflict(message: string): ApiError {
  return new ApiError('CONFLICT', message)
}
