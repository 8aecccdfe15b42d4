import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { ApiError, unavailable } from '../../runtime/errors.ts'
import { succeed } from '../../runtime/http/http.ts'
import { objectOf, type JsonSchema } from '../../runtime/openapi/json-schema.ts'
import {
  MOST_RESENT_IN_CALL,
  MOST_RESENT_WAITING,
} from '../../schemas/subscriptions/resend-limits.ts'
import {
  markHealthy,
  maxAgeMs,
  omitWaiting,
  type DeliveryOutcome,
  type DeviceSubscription,
  type SubscriptionProgress,
} from '../../schemas/subscriptions/subscription.ts'
import { parseIso8601 } from '../../schemas/text/iso-8601.ts'
import { newSigningSecret } from '../../schemas/access/random-secrets.ts'
import {
  pathParameter,
  route,
  type AdminContext,
  type AdminRoute,
  type Input,
} from '../http/admin-route.ts'
import type { Caller } from '../http/caller.ts'
import { GRACE } from '../http/grace-seconds.ts'
import { requireKnown } from '../http/resource.ts'
import { list, text, type InputOf } from '../http/rule.ts'
import { OUTCOME, outcomeView } from './deliveries.ts'
import {
  startMarkOf,
  subscriptionResource,
  type SubscriptionDeps,
  openSecrets,
  requireSecrets,
  seal,
} from './subscriptions.ts'
import { startRule } from './subscription-fields.ts'

/** Longer than a receiver's time limit. */
const TEST_WITHIN_MS = 20_000
const LOOKS_EVERY_MS = 200
const RESENT_EXPECTED = `ids must be a list of 1 to ${MOST_RESENT_IN_CALL} different ids of events or records`
const RESENT = {
  ids: list(text({ max: 64, expected: RESENT_EXPECTED }), {
    max: MOST_RESENT_IN_CALL,
    expected: RESENT_EXPECTED,
  }).required(),
}

const REWOUND = { to: startRule('to').required() }

/** Test, rotation, rewind and the like: operators' actions other than changing a subscription. */
export function subscriptionActionRoutes(deps: SubscriptionDeps): AdminRoute[] {
  const { store, clock, feeds } = deps
  const { record, schema, schemaWithSecret, view } = subscriptionResource(deps)

  async function test(ctx: AdminContext, caller: Caller): Promise<void> {
    const testId = `test_${randomUUID()}`
    const { id } = await changed(ctx, caller, ({ progress }) => ({
      progress: { ...progress, test: { id: testId } },
    }))
    const outcome = await outcomeOf({ accountId: caller.accountId, id }, testId)
    await record(ctx, caller, 'subscription.tested', {
      id,
      details: { status: outcome.status ?? null },
    })
    succeed(ctx, outcomeView(outcome))
  }

  /** @throws {ApiError} 503 if no deliverer sends the test in time. */
  async function outcomeOf(
    query: { readonly accountId: string; readonly id: string },
    testId: string,
  ): Promise<DeliveryOutcome> {
    const deadline = performance.now() + (deps.testWithinMs ?? TEST_WITHIN_MS)
    while (performance.now() < deadline) {
      const { progress } = requireKnown('subscription', await store.findSubscription(query))
      if (progress.test?.id === testId && progress.test.outcome !== undefined) {
        return progress.test.outcome
      }
      await wait(LOOKS_EVERY_MS)
    }
    throw unavailable('the test was not sent in time: is the deliverer running?')
  }

  async function rotate(
    ctx: AdminContext,
    caller: Caller,
    { body: { graceSeconds } }: Input<object, InputOf<typeof GRACE>>,
  ): Promise<void> {
    const secrets = requireSecrets(deps)
    const secret = newSigningSecret()
    const now = clock.now()
    const until = now + graceSeconds * 1_000
    const subscription = await changed(ctx, caller, ({ id, sealed, target, revision }) => {
      if (target.kind !== 'webhook') throw conflict('only webhooks are signed with a secret')
      const { signing, ...rest } = openSecrets(secrets, { sealed, id })
      const [current] = signing
      const before = current === undefined ? [] : [{ secret: current.secret, until }]
      return {
        sealed: seal(secrets, id, { ...rest, signing: [{ secret }, ...before] }),
        revision: revision + 1,
      }
    })
    const { id } = subscription
    await record(ctx, caller, 'subscription.rotated', { id, details: { graceSeconds } })
    succeed(ctx, view({ ...subscription, secret }, caller), {
      message: 'save the secret: it is shown only once',
    })
  }

  async function enable(ctx: AdminContext, caller: Caller): Promise<void> {
    const subscription = await changed(ctx, caller, ({ progress }) => ({
      progress: enabled(markHealthy(progress)),
    }))
    await record(ctx, caller, 'subscription.enabled', { id: subscription.id, details: {} })
    succeed(ctx, view(subscription, caller))
  }

  async function rewind(
    ctx: AdminContext,
    caller: Caller,
    { body: { to } }: Input<object, InputOf<typeof REWOUND>>,
  ): Promise<void> {
    const query = { accountId: caller.accountId, id: pathParameter(ctx, 'id') }
    const { source } = requireKnown('subscription', await store.findSubscription(query))
    const now = clock.now()
    const place = { place: to, field: 'to', now }
    const mark = await startMarkOf(feeds[source], place)
    const subscription = await changed(ctx, caller, ({ progress }) => ({
      progress: { ...omitWaiting(progress), mark },
    }))
    await record(ctx, caller, 'subscription.rewound', { id: query.id, details: { to } })
    const from = to === 'now' ? now : (parseIso8601(to) ?? -Infinity)
    const sendsSince = Math.max(from, now - maxAgeMs(subscription))
    const shown = sendsSince === -Infinity ? subscription : { ...subscription, sendsSince }
    succeed(ctx, view(shown, caller))
  }

  async function resend(
    ctx: AdminContext,
    caller: Caller,
    { body: { ids } }: Input<object, InputOf<typeof RESENT>>,
  ): Promise<void> {
    const subscription = await changed(ctx, caller, ({ progress }) => {
      const resend = [...new Set([...progress.resend, ...ids])].sort()
      if (resend.length > MOST_RESENT_WAITING) {
        throw conflict(
          `at most ${MOST_RESENT_WAITING} items wait to be sent again: try later, or rewind instead`,
        )
      }
      return { progress: { ...progress, resend } }
    })
    await record(ctx, caller, 'subscription.resent', {
      id: subscription.id,
      details: { items: ids.length },
    })
    succeed(ctx, view(subscription, caller))
  }

  /** Changes the subscription in the path. */
  async function changed(
    ctx: AdminContext,
    { accountId }: Caller,
    change: (before: DeviceSubscription) => Partial<DeviceSubscription>,
  ): Promise<DeviceSubscription> {
    const query = { accountId, id: pathParameter(ctx, 'id') }
    const outcome = await store.changeSubscription(query, (before) => ({
      ...before,
      ...change(before),
      // The deliverer looks for changes by time.
      changedAt: Math.max(clock.now(), before.changedAt + 1),
    }))
    return requireKnown('subscription', outcome === 'refused' ? undefined : outcome)
  }

  const needs = 'dispatcher'
  return [
    {
      method: 'POST',
      path: '/subscriptions/:id/test',
      summary: 'Sends a test to a notification’s receiver and returns its response',
      description: 'Also while it is disabled. Changes neither its mark nor its state.',
      needs,
      answer: { data: TEST_OUTCOME },
      handle: test,
    },
    route({
      method: 'POST',
      path: '/subscriptions/:id/rotate',
      summary: 'Gives a webhook a new secret, shown only in this response',
      description:
        'For `graceSeconds` (7 days by default, at most 30) requests are also signed with the previous secret.',
      needs,
      body: GRACE,
      bodyExample: { graceSeconds: 86_400 },
      bodyMayBeAbsent: true,
      answer: { data: schemaWithSecret },
      errors: ['CONFLICT'],
      handle: rotate,
    }),
    {
      method: 'POST',
      path: '/subscriptions/:id/enable',
      summary: 'Enables a disabled notification, which continues where it stopped',
      description: 'A failing notification is retried immediately.',
      needs,
      answer: { data: schema },
      handle: enable,
    },
    route({
      method: 'POST',
      path: '/subscriptions/:id/rewind',
      summary: 'Moves a notification to another mark in its feed',
      description:
        '`to` is `start`, `now`, a mark of the feed, or a time. `sendsSince` in the response is the time from which items will be sent: `maxAgeSeconds` omits older ones. If absent, all items after the mark are sent.',
      needs,
      body: REWOUND,
      bodyExample: { to: '2026-01-31T12:30:00Z' },
      answer: { data: schema },
      handle: rewind,
    }),
    route({
      method: 'POST',
      path: '/subscriptions/:id/resend',
      summary: 'Resends items in order, before the rest',
      description: `Events or records that still exist, including those set aside: ${MOST_RESENT_IN_CALL} in a call, and ${MOST_RESENT_WAITING} that wait.`,
      needs,
      body: RESENT,
      bodyExample: { ids: ['01KDVDNA00Z6JGGE5XXD5XW7P3'] },
      answer: { data: schema },
      errors: ['CONFLICT'],
      handle: resend,
    }),
  ]
}

function enabled({
  disabledAt: _disabledAt,
  ...progress
}: SubscriptionProgress): SubscriptionProgress {
  return progress
}

const TEST_OUTCOME: JsonSchema = objectOf(OUTCOME, {
  title: 'TestOutcome',
  optional: ['status', 'error'],
})

function conflict(message: string): ApiError {
  return new ApiError('CONFLICT', message)
}
