import type { Clock } from '../../runtime/clock.ts'
import { succeed } from '../../runtime/http.ts'
import type { RateLimit } from '../../runtime/rate-counters.ts'
import type { Store } from '../../store/store.ts'
import { route, type AdminContext, type AdminRoute, type Input } from '../http/admin-route.ts'
import type { Caller } from '../http/caller.ts'
import type { InputOf } from '../http/rule.ts'
import { KEY, keyView } from './key-view.ts'
import { ownKeys, PASTED_KEY } from './own-key.ts'

const SECRET = { key: PASTED_KEY }

/** Finds the key that a secret belongs to. */
export function identifyKeyRoute({
  store,
  clock,
  pastedKeyLimit: limit,
}: {
  store: Store
  clock: Clock
  pastedKeyLimit?: RateLimit | 'off' | undefined
}): AdminRoute {
  const ownKey = ownKeys({ store, limit })

  async function identify(
    ctx: AdminContext,
    caller: Caller,
    { body: { key: secret } }: Input<object, InputOf<typeof SECRET>>,
  ): Promise<void> {
    const { key } = await ownKey(caller, secret)
    succeed(ctx, keyView(key, clock.now()))
  }

  return route({
    method: 'POST',
    path: '/keys/identify',
    summary: 'Tells which API key a secret is',
    description:
      'Also one that is revoked or expired, and the secret from before a rotation. 10 times in 60 s.',
    needs: 'admin',
    body: SECRET,
    bodyExample: { key: 'gps_…' },
    answer: { data: KEY },
    errors: ['NOT_FOUND'],
    handle: identify,
  })
}
