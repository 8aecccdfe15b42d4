import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../../runtime/clock.ts'
import { succeed } from '../../runtime/http/http.ts'
import type { ApiKey, KeyChange } from '../../store/keys.ts'
import type { Store } from '../../store/store.ts'
import {
  pathParameter,
  route,
  type AdminContext,
  type AdminRoute,
  type Input,
} from '../http/admin-route.ts'
import type { Caller } from '../http/caller.ts'
import { KEY_CHANGES, refuseBoundAdmin } from './key-rules.ts'
import { KEY, keyDetails, keyView, requireKey } from './key-view.ts'
import { recordAction } from '../http/record-action.ts'
import { requireChange } from '../http/body.ts'

/** Changes a key's limits. An expired key works again with a later `expiresAt`. */
export function changeKeyRoute({ store, clock }: { store: Store; clock: Clock }): AdminRoute {
  async function change(
    ctx: AdminContext,
    caller: Caller,
    { body: change }: Input<object, KeyChange>,
  ): Promise<void> {
    requireChange(change, KEY_CHANGES)
    const query = { accountId: caller.accountId, keyId: pathParameter(ctx, 'id') }
    const before = requireKey(await store.findKey(query))
    refuseBoundAdmin(before.scopes, change)
    if (!differs(before, change)) return succeed(ctx, keyView(before, clock.now()))
    const key = requireKey(await store.changeKey({ ...query, ...change }))
    const subject = { kind: 'key', id: key.id } as const
    const details = keyDetails(change)
    await recordAction(ctx, caller, { action: 'key.changed', subject, details }, { store, clock })
    succeed(ctx, keyView(key, clock.now()))
  }

  return route({
    method: 'PATCH',
    path: '/keys/:id',
    summary: 'Changes the name and the limits of an API key',
    description:
      '`null` takes `expiresAt`, `deviceIds` or `rateLimit` away. Services see it within 5 s.',
    needs: 'admin',
    body: KEY_CHANGES,
    bodyExample: { name: 'Tracker 7', rateLimit: 600 },
    answer: { data: KEY },
    handle: change,
  })
}

function differs(key: ApiKey, change: KeyChange): boolean {
  return (Object.keys(change) as (keyof KeyChange)[]).some(
    (field) => !isDeepStrictEqual(change[field] ?? undefined, key[field]),
  )
}
