import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../../runtime/clock.ts'
import { succeed } from '../../runtime/http/http.ts'
import type { RateLimit } from '../../runtime/limits/rate-counters.ts'
import { keyHint, newApiKey, secretHash } from '../../schemas/access/api-key.ts'
import { ulid } from '../../schemas/events/record-id.ts'
import type { ApiKey, KeyChange, Keys } from '../../store/keys.ts'
import type { Store } from '../../store/store.ts'
import type { AdminContext, AdminRoute } from '../http/admin-route.ts'
import type { Caller } from '../http/caller.ts'
import { requireKnown, resource, type InAccount } from '../http/resource.ts'
import { identifyKeyRoute } from './identify-key.ts'
import { KEY_FIELDS, refuseBoundAdmin, type NewKey, type ShownKey } from './key-rules.ts'
import { rotateKeyRoute } from './rotate-key.ts'

/** Creates, lists, changes, rotates and revokes API keys. */
export function keyRoutes({
  store,
  clock,
  pastedKeyLimit,
}: {
  store: Store
  clock: Clock
  pastedKeyLimit?: RateLimit | 'off' | undefined
}): AdminRoute[] {
  const keys = resource({
    kind: 'key',
    fields: KEY_FIELDS,
    find: ({ accountId, id }: InAccount): Promise<ShownKey | undefined> =>
      store.findKey({ accountId, keyId: id }),
    reads: { needs: 'viewer' },
    writes: { needs: 'admin' },
    store,
    clock,
  })

  async function revoke(ctx: AdminContext, caller: Caller): Promise<void> {
    const { accountId } = caller
    const { id, revokedAt } = await keys.findOne(ctx, caller)
    const query = { accountId, keyId: id, revokedAt: clock.now() }
    const key = requireKnown('key', await store.revokeKey(query))
    if (revokedAt === undefined) await keys.record(ctx, caller, 'key.revoked', { id })
    succeed(ctx, keys.view(key, caller))
  }

  return [
    keys.create({
      summary: 'Creates an API key; its secret is shown only in this answer',
      bodyExample: { name: 'Tracker 7', scopes: ['positions:write'], deviceIds: ['tracker-7'] },
      message: 'keep the key, it is shown this once',
      async make({ accountId, body }) {
        refuseBoundAdmin(body.scopes, body)
        const { key, secret } = await createKey({ store, clock, accountId, ...body })
        return { ...key, key: secret }
      },
    }),
    keys.list({
      summary: 'Lists API keys, newest first',
      page: (query) => store.pageKeys(query),
    }),
    keys.show({ summary: 'Returns an API key' }),
    identifyKeyRoute({ store, keys, pastedKeyLimit }),
    // An expired key works again with a later `expiresAt`.
    keys.change({
      summary: 'Changes the name and the limits of an API key',
      description:
        '`null` takes `expiresAt`, `deviceIds` or `rateLimit` away. Services see it within 5 s.',
      bodyExample: { name: 'Tracker 7', rateLimit: 600 },
      async change({ accountId, id, before, body }) {
        refuseBoundAdmin(before.scopes, body)
        if (!differs(before, body)) return before
        return store.changeKey({ accountId, keyId: id, ...body })
      },
    }),
    rotateKeyRoute({ store, clock, keys }),
    {
      method: 'POST',
      path: '/keys/:id/revoke',
      summary: 'Revokes an API key for good',
      needs: 'admin',
      answer: { data: keys.schema },
      handle: revoke,
    },
  ]
}

function differs(key: ApiKey, change: KeyChange): boolean {
  return (Object.keys(change) as (keyof KeyChange)[]).some(
    (field) => !isDeepStrictEqual(change[field] ?? undefined, key[field]),
  )
}

/** Creates a key, by default for reporting positions only. The secret is not stored. */
export async function createKey({
  store,
  clock,
  scopes = ['positions:write'],
  ...wanted
}: NewKey & { accountId: string; store: Pick<Keys, 'createKey'>; clock: Clock }): Promise<{
  key: ApiKey
  secret: string
}> {
  const secret = newApiKey()
  const createdAt = clock.now()
  const id = ulid(createdAt, randomBytes(10))
  const key: ApiKey = { id, hint: keyHint(secret), scopes, createdAt, ...wanted }
  await store.createKey(key, secretHash(secret))
  return { key, secret }
}
