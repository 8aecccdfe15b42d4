import { randomBytes } from 'node:crypto'
import type { Feeds } from '../../event-log/feeds.ts'
import type { Clock } from '../../runtime/clock.ts'
import { invalidParams } from '../../runtime/errors.ts'
import { succeed } from '../../runtime/http/http.ts'
import type { OutboundNetworks } from '../../runtime/outbound/outbound-url.ts'
import type { SealedSecrets } from '../../runtime/process/sealed-secrets.ts'
import { ulid } from '../../schemas/events/record-id.ts'
import { newSigningSecret } from '../../schemas/access/signing-secret.ts'
import {
  healthy,
  newProgress,
  shownTarget,
  uncounted,
  type DeviceSubscription,
  type SubscriptionContent,
  type SubscriptionTarget,
} from '../../schemas/subscriptions/subscription.ts'
import { operatorAddresses } from '../../store/operators.ts'
import type { Store } from '../../store/store.ts'
import {
  pathParameter,
  route,
  type AdminContext,
  type AdminRoute,
  type Input,
} from '../http/admin-route.ts'
import { listById, pageOf } from '../http/answer-page.ts'
import { requireChange } from '../http/body.ts'
import type { Caller } from '../http/caller.ts'
import { PAGE_PARAMETERS, type PageQuery } from '../http/query.ts'
import { selectionAudit } from '../http/selection-audit.ts'
import { placeInFeed } from './place-in-feed.ts'
import {
  requireFitting,
  requireSubscription,
  subscriptionFields,
  requireStoredSubscription,
  tooLargeSubscription,
  type SubscriptionChange,
  type SubscriptionInput,
} from './subscription-fields.ts'
import { openSecrets, requireSecrets, seal } from './subscription-secrets.ts'
import { SUBSCRIPTION, SUBSCRIPTION_WITH_SECRET, subscriptionView } from './subscription-view.ts'

const BODY_LIMIT_BYTES = 1024 * 1024

export type SubscriptionDeps = {
  readonly store: Store
  readonly clock: Clock
  readonly feeds: Feeds
  /** Absent: there is no key to encrypt secrets with. */
  readonly secrets: SealedSecrets | undefined
  readonly networks: OutboundNetworks
  readonly hasMail: boolean
  /** How long a test may take; absent: longer than a receiver may. */
  readonly testWithinMs?: number | undefined
}

/** Tell programs and people what happens to devices. */
export function subscriptionRoutes(deps: SubscriptionDeps): AdminRoute[] {
  const { store, clock, feeds } = deps
  const fields = subscriptionFields(deps.networks)

  const { livesOf, record } = selectionAudit('subscription', { store, clock })

  async function list(ctx: AdminContext, caller: Caller, input: Input<PageQuery>): Promise<void> {
    await listById({
      name: 'subscriptions',
      page: (query) => store.pageSubscriptions(query),
      view: (subscription) => subscriptionView(subscription, caller),
    })(ctx, caller, input)
  }

  async function create(
    ctx: AdminContext,
    caller: Caller,
    { body }: Input<object, SubscriptionInput>,
  ): Promise<void> {
    const { target, start, ...content } = body
    requireFitting({ ...content, target })
    await requireOwnAddresses(caller, target)
    const secrets = requireSecrets(deps)
    const { accountId } = caller
    const lives = await livesOf(caller, body)
    const createdAt = clock.now()
    const place = { place: start, field: 'start', now: createdAt }
    const mark = await placeInFeed(feeds[body.source], place)
    const id = ulid(createdAt, randomBytes(10))
    const secret = newSigningSecret()
    const signing = target.kind === 'webhook' ? [{ secret }] : []
    const subscription: DeviceSubscription = {
      ...content,
      target: shownTarget(target),
      id,
      accountId,
      createdAt,
      changedAt: createdAt,
      revision: 1,
      sealed: seal(secrets, id, { target, signing }),
      progress: newProgress(mark),
    }
    requireStoredSubscription(await store.createSubscription(subscription))
    const details = { ...content, target: subscription.target }
    await record(ctx, caller, 'subscription.created', { id, details, lives })
    const view = subscriptionView(subscription, caller)
    succeed(ctx, target.kind === 'webhook' ? { ...view, secret } : view, { status: 201 })
  }

  async function show(ctx: AdminContext, caller: Caller): Promise<void> {
    const { accountId } = caller
    const id = pathParameter(ctx, 'id')
    const found = requireSubscription(await store.findSubscription({ accountId, id }))
    succeed(ctx, subscriptionView(found, caller))
  }

  async function change(
    ctx: AdminContext,
    caller: Caller,
    { body }: Input<object, SubscriptionChange>,
  ): Promise<void> {
    requireChange(body, fields.changed)
    const query = { accountId: caller.accountId, id: pathParameter(ctx, 'id') }
    requireSubscription(await store.findSubscription(query))
    const { target, ...rest } = body
    if (target !== undefined) await requireOwnAddresses(caller, target)
    const lives = await livesOf(caller, body)
    const outcome = await store.changeSubscription(query, (before) => {
      const shown = target === undefined ? before.target : shownTarget(target)
      const content = withoutNull<SubscriptionContent>({ ...before, ...rest, target: shown })
      requireFitting(content)
      const changedAt = Math.max(clock.now(), before.changedAt + 1)
      const next = {
        ...before,
        ...withoutGone(before, content),
        progress: uncounted(before.progress),
        revision: before.revision + 1,
      }
      return target === undefined
        ? { ...next, changedAt }
        : { ...withTarget(next, target, requireSecrets(deps)), changedAt }
    })
    if (outcome === 'refused') throw tooLargeSubscription()
    const subscription = requireSubscription(outcome)
    const details = { ...rest, ...(target !== undefined && { target: shownTarget(target) }) }
    await record(ctx, caller, 'subscription.changed', { id: query.id, details, lives })
    succeed(ctx, subscriptionView(subscription, caller))
  }

  async function remove(ctx: AdminContext, caller: Caller): Promise<void> {
    const { accountId } = caller
    const id = pathParameter(ctx, 'id')
    const query = { accountId, id, deletedAt: clock.now() }
    const { name } = requireSubscription(await store.deleteSubscription(query))
    await record(ctx, caller, 'subscription.deleted', { id, details: { name } })
    succeed(ctx, null)
  }

  /** @throws {ApiError} 400 for a mail to somebody else. */
  async function requireOwnAddresses(
    { accountId }: Caller,
    target: SubscriptionTarget,
  ): Promise<void> {
    if (target.kind !== 'email') return
    if (!deps.hasMail) {
      const message = 'target.kind email needs a mail server: set SMTP_URL and SMTP_FROM'
      throw invalidParams([{ field: 'target.kind', message }])
    }
    const known = await operatorAddresses(store, accountId)
    if (target.to.every((address) => known.has(address.toLowerCase()))) return
    const message = 'target.to must be addresses of operators of this account'
    throw invalidParams([{ field: 'target.to', message }])
  }

  const scope = 'devices:read'
  return [
    route({
      method: 'GET',
      path: '/subscriptions',
      summary: 'Lists subscriptions, newest first',
      needs: 'viewer',
      scope,
      query: PAGE_PARAMETERS,
      answer: { data: pageOf(SUBSCRIPTION) },
      handle: list,
    }),
    route({
      method: 'POST',
      path: '/subscriptions',
      summary: 'Makes a subscription',
      description: DESCRIPTION,
      needs: 'dispatcher',
      body: fields.created,
      bodyExample: {
        name: 'To the office',
        source: 'facts',
        types: ['alarm.reported'],
        hours: { days: [6, 7], from: '00:00', to: '24:00', zone: 'Europe/Berlin' },
        target: { kind: 'webhook', url: 'https://example.org/hook', batch: 100 },
      },
      bodyLimitBytes: BODY_LIMIT_BYTES,
      answer: { status: 201, data: SUBSCRIPTION_WITH_SECRET },
      handle: create,
    }),
    {
      method: 'GET',
      path: '/subscriptions/:id',
      summary: 'One subscription, with its state',
      needs: 'viewer',
      scope,
      answer: { data: SUBSCRIPTION },
      handle: show,
    },
    route({
      method: 'PATCH',
      path: '/subscriptions/:id',
      summary: 'Changes a subscription',
      description:
        '`null` takes an optional field away. A `target` replaces the one before, and is tried without a pause.',
      needs: 'dispatcher',
      body: fields.changed,
      bodyExample: {
        everySeconds: 60,
        hours: { days: [6, 7], from: '00:00', to: '24:00', zone: 'Europe/Berlin' },
      },
      bodyLimitBytes: BODY_LIMIT_BYTES,
      answer: { data: SUBSCRIPTION },
      errors: ['CONFLICT'],
      handle: change,
    }),
    {
      method: 'DELETE',
      path: '/subscriptions/:id',
      summary: 'Deletes a subscription and its list of deliveries',
      needs: 'dispatcher',
      answer: {},
      handle: remove,
    },
  ]
}

const DESCRIPTION = `
Sends facts, or positions, to a webhook, a phone (ntfy), a chat or operators' mail, in the order of the log, and tries
again until they arrive. A webhook is signed as [Standard Webhooks](https://www.standardwebhooks.com) has it, with the
\`secret\` that only this answer and that of \`rotate\` show. Without \`SECRETS_KEY\` a 503.
`.trim()

/** A new target counts as healthy. A webhook keeps its secret. */
function withTarget(
  subscription: DeviceSubscription,
  target: SubscriptionTarget,
  secrets: SealedSecrets,
): DeviceSubscription {
  const { id, progress } = subscription
  const before = openSecrets(secrets, subscription)
  const kept = before.signing.length > 0 ? before.signing : [{ secret: newSigningSecret() }]
  const signing = target.kind === 'webhook' ? kept : before.signing
  return {
    ...subscription,
    sealed: seal(secrets, id, { target, signing }),
    progress: healthy(progress),
  }
}

function withoutNull<T>(fields: object): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as T
}

/** The fields that a change has taken away are undefined, which is not stored. */
function withoutGone(before: DeviceSubscription, content: SubscriptionContent): object {
  const gone = Object.keys(before).filter((name) => !Object.hasOwn(content, name))
  return { ...content, ...Object.fromEntries(gone.map((name) => [name, undefined])) }
}
