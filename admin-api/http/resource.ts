import { randomBytes } from 'node:crypto'
import type { Clock } from '../../runtime/clock.ts'
import { ApiError } from '../../runtime/errors.ts'
import { succeed } from '../../runtime/http/http.ts'
import type { FieldRevisions } from '../../schemas/definitions/field-revisions.ts'
import { ulid } from '../../schemas/events/record-id.ts'
import type { Scope } from '../../store/keys.ts'
import type { Role } from '../../store/operators.ts'
import type { Store } from '../../store/store.ts'
import {
  pathParameter,
  route,
  type AdminContext,
  type AdminRoute,
  type Input,
} from './admin-route.ts'
import { listById, pageOf } from './answer-page.ts'
import { requireChange } from './body.ts'
import type { Caller } from './caller.ts'
import {
  detailsOf,
  rulesOf,
  type BodyOf,
  schemaOf,
  viewOf,
  type ResourceFields,
} from './resource-fields.ts'
import { PAGE_PARAMETERS, type PageQuery } from './query.ts'
import { resourceAudit, type ResourceKind } from './record-action.ts'
import type { InputOf, Rules } from './rule.ts'

export type InAccount = { readonly accountId: string; readonly id: string }

/** The parts of a call that the resource does not determine. */
type Call = Pick<AdminRoute, 'summary'> &
  Partial<Pick<AdminRoute, 'description' | 'bodyExample' | 'compressed' | 'errors'>>

type Access = { readonly needs: Role; readonly scope?: Scope }

type Sent = Input<object, InputOf<Rules>>

type Stored = {
  readonly id: string
  readonly createdAt: number
  readonly revision?: number
  readonly changedIn?: FieldRevisions
}

/**
 * Creates the calls on an account's things of one kind, such as its rules: all kinds are listed,
 * created, read, changed and deleted in the same way, and each change is in the audit. Differences
 * are passed to each call.
 */
export function resource<Item extends Stored, F extends ResourceFields<Item>>({
  kind,
  fields,
  find,
  reads,
  writes,
  namesDevices = false,
  bodyLimitBytes,
  store,
  clock,
}: {
  /** The singular used in errors, schemas and the audit; the path is the plural. */
  readonly kind: ResourceKind
  readonly fields: F
  readonly find: (query: InAccount) => Promise<Item | undefined>
  readonly reads: Access
  readonly writes: Access
  /** Erasing a device removes its name from a list `deviceIds` in the audit. */
  readonly namesDevices?: boolean
  readonly bodyLimitBytes?: number
  readonly store: Pick<Store, 'livesOf' | 'appendAudit'>
  readonly clock: Clock
}) {
  const path = `/${kind}s`
  const created = rulesOf(fields, 'created') as unknown as Rules
  const changed = rulesOf(fields, 'changed') as unknown as Rules
  const others = Object.entries(changed).filter(([name]) => name !== 'revision')
  const changeable = Object.fromEntries(others)
  const title = kind.charAt(0).toUpperCase() + kind.slice(1)
  const schema = schemaOf(fields, { title })
  const hasSecret = Object.values(fields).some(({ isSecret }) => isSecret)
  const schemaWithSecret = hasSecret
    ? schemaOf(fields, { title: `${title}WithSecret`, secrets: true })
    : schema
  const limit = bodyLimitBytes === undefined ? {} : { bodyLimitBytes }

  function view(item: Item, caller: Caller): object {
    return viewOf(fields, item, { caller, now: clock.now() })
  }

  /** Returns a new item's values, for the audit. */
  function details(item: Item) {
    return detailsOf(fields, item, Object.keys(created))
  }

  const { livesOf, record } = resourceAudit(kind, { namesDevices, store, clock })

  function queryOf(ctx: AdminContext, { accountId }: Caller): InAccount {
    return { accountId, id: pathParameter(ctx, 'id') }
  }

  /**
   * Finds the item in the path.
   * @throws {ApiError} 404
   */
  async function findOne(ctx: AdminContext, caller: Caller): Promise<Item> {
    return requireKnown(kind, await find(queryOf(ctx, caller)))
  }

  return {
    schema,
    schemaWithSecret,
    view,
    details,
    findOne,
    livesOf,
    record,

    list({
      page,
      ...call
    }: Call & { readonly page: Parameters<typeof listById<Item>>[0]['page'] }) {
      return route({
        method: 'GET',
        path,
        ...reads,
        query: PAGE_PARAMETERS,
        answer: { data: pageOf(schema) },
        ...call,
        async handle(ctx: AdminContext, caller: Caller, input: Input<PageQuery>) {
          const list = { name: `${kind}s`, page, view: (item: Item) => view(item, caller) }
          await listById(list)(ctx, caller, input)
        },
      })
    },

    /** `make` stores a new item, and returns it with its secrets. */
    create({
      make,
      message,
      ...call
    }: Call & {
      readonly make: (
        own: InAccount & { readonly createdAt: number; readonly body: BodyOf<F, 'created'> },
        caller: Caller,
      ) => Promise<Item>
      readonly message?: string
    }) {
      return route({
        method: 'POST',
        path,
        ...writes,
        body: created,
        ...limit,
        answer: { status: 201, data: schemaWithSecret },
        ...call,
        async handle(ctx: AdminContext, caller: Caller, { body: sent }: Sent) {
          const lives = await livesOf(caller, sent)
          const createdAt = clock.now()
          const id = ulid(createdAt, randomBytes(10))
          const body = sent as unknown as BodyOf<F, 'created'>
          const item = await make({ id, accountId: caller.accountId, createdAt, body }, caller)
          await record(ctx, caller, `${kind}.created`, {
            id: item.id,
            details: details(item),
            ...lives,
          })
          succeed(ctx, view(item, caller), { status: 201, ...(message && { message }) })
        },
      })
    },

    /** `complete` adds what is read only for this response. */
    show({ complete, ...call }: Call & { readonly complete?: (item: Item) => Promise<Item> }) {
      return route({
        method: 'GET',
        path: `${path}/:id`,
        ...reads,
        answer: { data: schema },
        ...call,
        async handle(ctx: AdminContext, caller: Caller) {
          const item = await findOne(ctx, caller)
          succeed(ctx, view(complete ? await complete(item) : item, caller))
        },
      })
    },

    /**
     * `change` stores the changed item and returns it, or undefined if it no longer exists. It
     * calls `requireSeen` with the item it is about to replace, which throws a 409 if the caller
     * has seen another revision.
     */
    change({
      change,
      ...call
    }: Call & {
      readonly change: (
        own: InAccount & {
          readonly before: Item
          readonly body: Omit<BodyOf<F, 'changed'>, 'revision'>
          readonly requireSeen: (current: Stored) => void
        },
        caller: Caller,
      ) => Promise<Item | undefined>
    }) {
      return route({
        method: 'PATCH',
        path: `${path}/:id`,
        ...writes,
        body: changed,
        ...limit,
        answer: { data: schema },
        ...call,
        errors: [...(call.errors ?? []), ...('revision' in changed ? (['CONFLICT'] as const) : [])],
        async handle(ctx: AdminContext, caller: Caller, { body: { revision, ...sent } }: Sent) {
          requireChange(sent, changeable)
          const before = await findOne(ctx, caller)
          const { id } = before
          const lives = await livesOf(caller, sent)
          const body = sent as unknown as BodyOf<F, 'changed'>
          const requireSeen = (current: Stored) =>
            requireRevision(kind, current, revision as number | undefined)
          const own = { accountId: caller.accountId, id, before, body, requireSeen }
          const item = requireKnown(kind, await change(own, caller))
          if (!isSame(before, item)) {
            const gone = Object.entries(sent).filter(([, value]) => value === null)
            const set = detailsOf(fields, item, Object.keys(sent))
            const details = { ...set, ...Object.fromEntries(gone) }
            await record(ctx, caller, `${kind}.changed`, { id, details, ...lives })
          }
          succeed(ctx, view(item, caller))
        },
      })
    },

    /** `remove` returns the deleted item, or undefined if there was none. */
    remove({
      remove,
      ...call
    }: Call & {
      readonly remove: (
        query: InAccount,
        caller: Caller,
      ) => Promise<{ readonly name: string } | undefined>
    }) {
      return route({
        method: 'DELETE',
        path: `${path}/:id`,
        ...writes,
        answer: {},
        ...call,
        async handle(ctx: AdminContext, caller: Caller) {
          const query = queryOf(ctx, caller)
          const { name } = requireKnown(kind, await remove(query, caller))
          await record(ctx, caller, `${kind}.deleted`, { id: query.id, details: { name } })
          succeed(ctx, null)
        },
      })
    },
  }
}

/** The parts of a resource that other calls on it use. */
export type Resource<Item extends Stored> = Pick<
  ReturnType<typeof resource<Item, ResourceFields<Item>>>,
  'schema' | 'schemaWithSecret' | 'view' | 'findOne' | 'record'
>

/** @throws {ApiError} 404 */
export function requireKnown<Item>(kind: ResourceKind, item: Item | undefined): Item {
  if (item === undefined)
    throw new ApiError('NOT_FOUND', `there is no ${wordOf(kind)} with this id`)
  return item
}

const wordOf = (kind: ResourceKind) => (kind === 'subscription' ? 'notification' : kind)

/**
 * `seen`: the revision that a change is based on; by default any.
 * @throws {ApiError} 409 if it is not the current one, naming the fields that have changed since.
 */
export function requireRevision(
  kind: ResourceKind,
  { revision, changedIn = {} }: Pick<Stored, 'revision' | 'changedIn'>,
  seen: number | undefined,
): void {
  if (seen === undefined || seen === revision) return
  const since = Object.entries(changedIn).filter(([, changedAt]) => changedAt > seen)
  throw new ApiError(
    'CONFLICT',
    `this ${wordOf(kind)} has been changed in the meantime: read it again, or omit revision to overwrite it`,
    {
      details:
        since.length === 0
          ? [{ field: 'revision', message: `revision ${seen} is not the current one` }]
          : since.map(([field, changedAt]) => ({
              field,
              message: `${field} was changed in revision ${changedAt}`,
            })),
    },
  )
}

function isSame(before: Stored, after: Stored): boolean {
  return after === before || (after.revision !== undefined && after.revision === before.revision)
}
