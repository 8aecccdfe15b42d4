import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../../runtime/clock.ts'
import { ApiError } from '../../runtime/errors.ts'
import { succeed } from '../../runtime/http/http.ts'
import type { RateLimit } from '../../runtime/limits/rate-counters.ts'
import { keyHint, newApiKey, secretHash } from '../../schemas/access/api-key.ts'
import { ulid } from '../../schemas/events/record-id.ts'
import {
  KEY_STATUSES,
  keyStatus,
  type ApiKey,
  type KeyChange,
  type Keys,
} from '../../store/keys.ts'
import type { Store } from '../../store/store.ts'
import { route, type AdminContext, type AdminRoute, type Input } from '../http/admin-route.ts'
import { pageOf } from '../http/answer-page.ts'
import type { Caller } from '../http/caller.ts'
import { GRACE } from '../http/grace-seconds.ts'
import { requireKnown, resource, type InAccount, type Resource } from '../http/resource.ts'
import { choice, type InputOf } from '../http/rule.ts'
import { searchedList, searchParameters } from '../http/searched-list.ts'
import { identifyKeyRoute } from './identify-key.ts'
import { KEY_FIELDS, refuseBoundAdmin, type NewKey, type ShownKey } from './key-rules.ts'

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

  function list(ctx: AdminContext, caller: Caller, input: Input<KeyQuery>): Promise<void> {
    const now = clock.now()
    return searchedList<ApiKey, Pick<KeyQuery, 'status'>>({
      name: 'keys',
      page: (query) => store.pageKeys(query),
      find: ({ accountId, id }) => store.findKey({ accountId, keyId: id }),
      view: (key) => keys.view(key, caller),
      textsOf: ({ name, hint, id }) => [name, `${hint}\n${id}`],
      fits: (key, { status }) => status === undefined || keyStatus(key, now) === status,
      sorts: KEY_SORTS,
      usual: '-createdAt',
    })(ctx, caller, input)
  }

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
      summary: 'Creates an API key; its secret is shown only in this response',
      bodyExample: { name: 'Tracker 7', scopes: ['positions:write'], deviceIds: ['tracker-7'] },
      message: 'save the key: it is shown only once',
      async make({ accountId, body }) {
        refuseBoundAdmin(body.scopes, body)
        const { key, secret } = await createKey({ store, clock, accountId, ...body })
        return { ...key, key: secret }
      },
    }),
    route({
      method: 'GET',
      path: '/keys',
      summary: 'Lists API keys, newest first unless sorted',
      needs: 'viewer',
      query: KEY_PARAMETERS,
      answer: { data: pageOf(keys.schema) },
      handle: list,
    }),
    keys.show({ summary: 'Returns an API key' }),
    identifyKeyRoute({ store, keys, pastedKeyLimit }),
    // An expired key works again with a later `expiresAt`.
    keys.change({
      summary: 'Changes the name and the limits of an API key',
      description:
        '`null` removes `expiresAt`, `deviceIds` or `rateLimit`. The change applies within 5 s.',
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
      summary: 'Permanently revokes an API key',
      needs: 'admin',
      answer: { data: keys.schema },
      handle: revoke,
    },
  ]
}

const KEY_SORTS = {
  name: ({ name }: ApiKey) => name,
  createdAt: ({ createdAt }: ApiKey) => createdAt,
  lastUsedAt: ({ lastUsedAt }: ApiKey) => lastUsedAt,
}

const KEY_PARAMETERS = {
  ...searchParameters('the name or the hint', ['name', 'createdAt', 'lastUsedAt']),
  status: choice(KEY_STATUSES, {
    expected: `status must be ${KEY_STATUSES.join(' or ')}`,
  }).described('The status, computed when read'),
}

type KeyQuery = InputOf<typeof KEY_PARAMETERS>

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

/** Gives a key a new secret; senders can use the old one for a while. */
function rotateKeyRoute({
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
    if (rotated === 'revoked') throw conflict('this key is permanently revoked: create another one')
    const key = requireKnown('key', rotated)
    await keys.record(ctx, caller, 'key.rotated', { id: key.id, details: { graceSeconds } })
    succeed(ctx, keys.view({ ...key, key: secret }, caller), {
      message: 'save the key: it is shown only once',
    })
  }

  return route({
    method: 'POST',
    path: '/keys/:id/rotate',
    summary: 'Gives an API key a new secret, shown only in this response',
    description:
      'The current secret works for another `graceSeconds` (default 7 days, at most 30); ' +
      'the one before it stops working, so rotate again only once senders have the new one.',
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
