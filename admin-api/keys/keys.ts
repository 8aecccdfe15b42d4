import { randomBytes } from 'node:crypto'
import type { Clock } from '../../runtime/clock.ts'
import { succeed } from '../../runtime/http/http.ts'
import type { RateLimit } from '../../runtime/limits/rate-counters.ts'
import { keyHint, newApiKey, secretHash } from '../../schemas/access/api-key.ts'
import { ulid } from '../../schemas/events/record-id.ts'
import type { ApiKey, Keys } from '../../store/keys.ts'
import type { Store } from '../../store/store.ts'
import {
  pathParameter,
  route,
  type AdminContext,
  type AdminRoute,
  type Input,
} from '../http/admin-route.ts'
import { pageOf, listById } from '../http/answer-page.ts'
import type { Caller } from '../http/caller.ts'
import { changeKeyRoute } from './change-key.ts'
import { identifyKeyRoute } from './identify-key.ts'
import { NEW_KEY, refuseBoundAdmin, type NewKey } from './key-rules.ts'
import {
  KEY,
  KEY_WITH_SECRET,
  keyDetails,
  keyView,
  keyViewWithSecret,
  requireKey,
} from './key-view.ts'
import { PAGE_PARAMETERS } from '../http/query.ts'
import { recordAction } from '../http/record-action.ts'
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
  async function create(
    ctx: AdminContext,
    caller: Caller,
    { body: wanted }: Input<object, NewKey>,
  ): Promise<void> {
    refuseBoundAdmin(wanted.scopes, wanted)
    const { accountId } = caller
    const { key, secret } = await createKey({ store, clock, accountId, ...wanted })
    const subject = { kind: 'key', id: key.id } as const
    const details = keyDetails({ ...wanted, scopes: key.scopes })
    await recordAction(ctx, caller, { action: 'key.created', subject, details }, { store, clock })
    succeed(ctx, keyViewWithSecret(key, secret, clock.now()), {
      status: 201,
      message: 'keep the key, it is shown this once',
    })
  }

  async function show(ctx: AdminContext, { accountId }: Caller): Promise<void> {
    const key = requireKey(await store.findKey({ accountId, keyId: pathParameter(ctx, 'id') }))
    succeed(ctx, keyView(key, clock.now()))
  }

  async function revoke(ctx: AdminContext, caller: Caller): Promise<void> {
    const query = { accountId: caller.accountId, keyId: pathParameter(ctx, 'id') }
    const before = requireKey(await store.findKey(query))
    const key = requireKey(await store.revokeKey({ ...query, revokedAt: clock.now() }))
    if (before.revokedAt === undefined) {
      const subject = { kind: 'key', id: key.id } as const
      await recordAction(ctx, caller, { action: 'key.revoked', subject }, { store, clock })
    }
    succeed(ctx, keyView(key, clock.now()))
  }

  return [
    route({
      method: 'POST',
      path: '/keys',
      summary: 'Creates an API key; its secret is shown only in this answer',
      needs: 'admin',
      body: NEW_KEY,
      bodyExample: { name: 'Tracker 7', scopes: ['positions:write'], deviceIds: ['tracker-7'] },
      answer: { status: 201, data: KEY_WITH_SECRET },
      handle: create,
    }),
    route({
      method: 'GET',
      path: '/keys',
      summary: 'Lists API keys, newest first',
      needs: 'viewer',
      query: PAGE_PARAMETERS,
      answer: { data: pageOf(KEY) },
      handle: listById({
        name: 'keys',
        page: (query) => store.pageKeys(query),
        view: (key) => keyView(key, clock.now()),
      }),
    }),
    {
      method: 'GET',
      path: '/keys/:id',
      summary: 'Returns an API key',
      needs: 'viewer',
      answer: { data: KEY },
      handle: show,
    },
    identifyKeyRoute({ store, clock, pastedKeyLimit }),
    changeKeyRoute({ store, clock }),
    rotateKeyRoute({ store, clock }),
    {
      method: 'POST',
      path: '/keys/:id/revoke',
      summary: 'Revokes an API key for good',
      needs: 'admin',
      answer: { data: KEY },
      handle: revoke,
    },
  ]
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
