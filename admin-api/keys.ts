import { randomBytes } from 'node:crypto'
import Joi from 'joi'
import type { Clock } from '../runtime/clock.ts'
import { ApiError } from '../runtime/errors.ts'
import { succeed } from '../runtime/http.ts'
import { keyHint, newApiKey, secretHash } from '../schemas/api-key.ts'
import { parseIso8601 } from '../schemas/iso-8601.ts'
import { ulid } from '../schemas/record-id.ts'
import { SCOPES, type ApiKey, type Keys, type Scope, type Store } from '../store/store.ts'
import { pathParameter, type AdminContext, type AdminRoute } from './admin-route.ts'
import { answerPage } from './answer-page.ts'
import { readBody } from './body.ts'
import type { Caller } from './caller.ts'
import { readCursor } from './cursor.ts'
import { PAGE_PARAMETERS, readQuery } from './query.ts'
import { nameRule } from './rules.ts'
import { isoTime } from './views.ts'

type NewKey = {
  readonly name: string
  readonly scopes?: readonly Scope[]
  readonly expiresAt?: number
  readonly deviceIds?: readonly string[]
  readonly rateLimit?: number
}

/** Making, listing and revoking API keys. */
export function keyRoutes({ store, clock }: { store: Store; clock: Clock }): AdminRoute[] {
  async function create(ctx: AdminContext, { accountId }: Caller): Promise<void> {
    readQuery(ctx, {})
    const wanted = await readBody<NewKey>(ctx, newKeyFields(clock.now()))
    const { key, secret } = await createKey({ store, clock, accountId, ...wanted })
    const { id, ...view } = keyView(key, clock.now())
    succeed(
      ctx,
      { id, key: secret, ...view },
      { status: 201, message: 'keep the key, it is shown this once' },
    )
  }

  async function list(ctx: AdminContext, { accountId }: Caller): Promise<void> {
    const { limit, cursor } = readQuery<{ limit: number; cursor?: string }>(ctx, PAGE_PARAMETERS)
    const list = { name: 'keys', accountId }
    const [after] = readCursor(cursor, list, ['text']) ?? []
    const items = await store.pageKeys({
      accountId,
      limit: limit + 1,
      ...(after !== undefined && { after }),
    })
    const now = clock.now()
    answerPage(ctx, {
      list,
      limit,
      items,
      placeOf: ({ id }) => [id],
      view: (key) => keyView(key, now),
    })
  }

  async function show(ctx: AdminContext, { accountId }: Caller): Promise<void> {
    const keyId = pathParameter(ctx, 'id')
    readQuery(ctx, {})
    answerKey(ctx, await store.findKey({ accountId, keyId }))
  }

  async function revoke(ctx: AdminContext, { accountId }: Caller): Promise<void> {
    const keyId = pathParameter(ctx, 'id')
    readQuery(ctx, {})
    answerKey(ctx, await store.revokeKey({ accountId, keyId, revokedAt: clock.now() }))
  }

  function answerKey(ctx: AdminContext, key: ApiKey | undefined): void {
    if (key === undefined) throw new ApiError('NOT_FOUND', 'there is no key with this id')
    succeed(ctx, keyView(key, clock.now()))
  }

  return [
    { method: 'POST', path: '/keys', needs: 'admin', handle: create },
    { method: 'GET', path: '/keys', needs: 'viewer', handle: list },
    { method: 'GET', path: '/keys/:id', needs: 'viewer', handle: show },
    { method: 'POST', path: '/keys/:id/revoke', needs: 'admin', handle: revoke },
  ]
}

/** Makes a key that may report positions unless `scopes` say otherwise. The secret is not kept. */
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

/** A key as operators see it: nothing of it opens anything. */
function keyView(key: ApiKey, now: number) {
  const time = (given: number | undefined) => (given === undefined ? null : isoTime(given))
  return {
    id: key.id,
    name: key.name,
    hint: key.hint,
    scopes: key.scopes,
    status: status(key, now),
    createdAt: isoTime(key.createdAt),
    expiresAt: time(key.expiresAt),
    lastUsedAt: time(key.lastUsedAt),
    revokedAt: time(key.revokedAt),
    deviceIds: key.deviceIds ?? null,
    rateLimit: key.rateLimit ?? null,
  }
}

function status({ revokedAt, expiresAt }: ApiKey, now: number): 'active' | 'expired' | 'revoked' {
  if (revokedAt !== undefined) return 'revoked'
  return expiresAt !== undefined && expiresAt <= now ? 'expired' : 'active'
}

function newKeyFields(now: number) {
  return {
    name: nameRule('name').required(),
    scopes: Joi.array()
      .items(Joi.string().valid(...SCOPES))
      .min(1)
      .unique()
      .empty(null)
      .messages({ '*': `scopes must be a list of one or more of ${SCOPES.join(', ')}` }),
    expiresAt: Joi.string()
      .empty(null)
      .custom((text: string, helpers) => {
        const time = parseIso8601(text)
        return time !== undefined && time > now ? time : helpers.error('any.invalid')
      })
      .messages({
        '*': 'expiresAt must be an ISO 8601 date and time in the future, for example 2030-01-31T12:30:00Z',
      }),
    deviceIds: Joi.array()
      .items(Joi.string().max(129).custom(devicePattern))
      .min(1)
      .max(1000)
      .unique()
      .empty(null)
      .messages({
        '*': 'deviceIds must be a list of 1 to 1000 different deviceIds, or beginnings of such that end in *',
      }),
    rateLimit: Joi.number()
      .integer()
      .min(1)
      .max(1_000_000_000)
      .empty(null)
      .messages({ '*': 'rateLimit must be a whole number of positions per 60 s, 1 or more' }),
  }
}

function devicePattern(text: string, helpers: Joi.CustomHelpers): string | Joi.ErrorReport {
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  const bad = /[\u0000-\u001f\u007f-\u009f]/.test(text) || !text.isWellFormed()
  return bad ? helpers.error('any.invalid') : text
}
