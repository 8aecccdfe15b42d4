import type { Clock } from '../../runtime/clock.ts'
import { ApiError } from '../../runtime/errors.ts'
import { succeed } from '../../runtime/http/http.ts'
import { objectOf, type JsonSchema } from '../../runtime/openapi/json-schema.ts'
import { readPages } from '../../runtime/process/read-pages.ts'
import {
  DELIVERIES_KEPT_MS,
  type DeliveryOutcome,
  type SubscriptionDelivery,
} from '../../schemas/subscriptions/subscription.ts'
import type { Store } from '../../store/store.ts'
import {
  pathParameter,
  route,
  type AdminContext,
  type AdminRoute,
  type Input,
} from '../http/admin-route.ts'
import { answerPage, pageOf } from '../http/answer-page.ts'
import type { Caller } from '../http/caller.ts'
import { readCursor } from '../http/cursor.ts'
import { PAGE_PARAMETERS } from '../http/query.ts'
import { requireKnown } from '../http/resource.ts'
import { choice, type InputOf } from '../http/rule.ts'
import { isoTime, TIME } from '../http/views.ts'
import { findTold, renderRequest, renderItem } from './render-delivery.ts'

const READ_AT_ONCE = 100
const DAY_MS = 24 * 3_600_000
/** This margin also covers requests rendered just before the device was erased. */
const CLOCKS_DIFFER_BY_MS = 60_000

const LIST_PARAMETERS = {
  ...PAGE_PARAMETERS,
  outcome: choice(['failed'], { expected: 'outcome must be failed' }).described(
    'Only deliveries without a 2xx response',
  ),
}

/** The latest requests of a subscription, with their outcomes. */
export function deliveriesRoutes({
  store,
  clock,
}: {
  store: Pick<
    Store,
    | 'findSubscription'
    | 'pageDeliveries'
    | 'erasuresOf'
    | 'retentionDays'
    | 'findFacts'
    | 'findPosition'
    | 'findDevices'
  >
  clock: Clock
}): AdminRoute[] {
  async function list(
    ctx: AdminContext,
    { accountId }: Caller,
    { query: { limit, cursor, outcome } }: Input<InputOf<typeof LIST_PARAMETERS>>,
  ): Promise<void> {
    const id = pathParameter(ctx, 'id')
    const subscription = requireKnown(
      'subscription',
      await store.findSubscription({ accountId, id }),
    )
    const filter = { subscriptionId: id, ...(outcome !== undefined && { outcome }) }
    const of = { name: 'deliveries', accountId, filter }
    const [before] = readCursor(cursor, of, ['number']) ?? []
    const found: SubscriptionDelivery[] = []
    for await (const page of pagesOf(id, before)) {
      found.push(...page.filter((one) => outcome === undefined || !isSuccess(one)))
      if (found.length > limit) break
    }
    const items = await dropErased(accountId, found.slice(0, limit + 1))
    const firsts = items.map(({ ids, at }) => ({ ids: ids.slice(0, 1), at }))
    const told = await findTold(store, subscription, firsts)
    await answerPage(ctx, {
      list: of,
      limit,
      items,
      placeOf: ({ number }) => [number],
      view: (delivery) => {
        const text = renderItem(delivery.ids[0] ?? '', told)
        return { ...deliveryView(delivery), ...(text !== undefined && { text }) }
      },
    })
  }

  /** The deliveries still available, newest first, before this number. */
  function pagesOf(subscriptionId: string, number: number | undefined) {
    const oldest = clock.now() - DELIVERIES_KEPT_MS
    return readPages<{ readonly number: number | undefined }>(
      READ_AT_ONCE,
      ({ limit, after = { number } }) =>
        store
          .pageDeliveries({
            subscriptionId,
            limit,
            ...(after.number !== undefined && { before: after.number }),
          })
          .then((page) => page.filter(({ at }) => at >= oldest)),
    ) as AsyncGenerator<readonly SubscriptionDelivery[], void>
  }

  async function show(ctx: AdminContext, { accountId }: Caller): Promise<void> {
    const id = pathParameter(ctx, 'id')
    const subscription = requireKnown(
      'subscription',
      await store.findSubscription({ accountId, id }),
    )
    const number = Number(pathParameter(ctx, 'number', 1))
    const delivery = Number.isSafeInteger(number)
      ? (await pagesOf(id, number + 1).next()).value?.[0]
      : undefined
    if (delivery?.number !== number) {
      throw new ApiError('NOT_FOUND', 'there is no delivery with this number (any more)')
    }
    const told = await findTold(store, subscription, [delivery])
    const { ids, at } = delivery
    const [shown] = await dropErased(accountId, [delivery])
    const kept = ids.flatMap((one) => told.get(one) ?? [])
    succeed(ctx, {
      ...deliveryView(shown!),
      items: ids.flatMap((one) => {
        const text = renderItem(one, told)
        return text === undefined ? [] : [{ id: one, text }]
      }),
      request: renderRequest(subscription, kept, at) ?? null,
    })
  }

  /**
   * A receiver may repeat request content in its response: responses to deliveries about a device
   * erased since are omitted.
   */
  async function dropErased(
    accountId: string,
    deliveries: readonly SubscriptionDelivery[],
  ): Promise<SubscriptionDelivery[]> {
    const days = (await store.retentionDays()) ?? Infinity
    const oldest = clock.now() - days * DAY_MS
    const deviceIds = [...new Set(deliveries.flatMap(({ deviceIds: own = [] }) => own))]
    const erasures =
      deviceIds.length === 0 ? undefined : await store.erasuresOf({ accountId, deviceIds })
    return deliveries.map((delivery) => {
      const { at, deviceIds: own } = delivery
      const isShown =
        at >= oldest &&
        own?.every((id) => at > (erasures?.get(id)?.erasedAt ?? -Infinity) + CLOCKS_DIFFER_BY_MS)
      return isShown === true ? delivery : { ...delivery, answer: '' }
    })
  }

  const needs = 'dispatcher'
  return [
    route({
      method: 'GET',
      path: '/subscriptions/:id/deliveries',
      summary: 'Lists the deliveries of a notification, newest first',
      description: 'The last 1000 requests of 7 days.',
      needs,
      query: LIST_PARAMETERS,
      answer: { data: pageOf(DELIVERY) },
      handle: list,
    }),
    {
      method: 'GET',
      path: '/subscriptions/:id/deliveries/:number',
      summary: 'Returns a delivery with its request',
      description: RENDERED,
      needs,
      answer: { data: DELIVERY_CONTENT },
      handle: show,
    },
  ]
}

function isSuccess({ status = 0 }: DeliveryOutcome): boolean {
  return status >= 200 && status < 300
}

function deliveryView(delivery: SubscriptionDelivery) {
  const { number, at, ids, attempt } = delivery
  return { number, at: isoTime(at), ids, attempt, ...outcomeView(delivery) }
}

export function outcomeView({ status, error, milliseconds, answer }: DeliveryOutcome) {
  return {
    ...(status !== undefined && { status }),
    ...(error !== undefined && { error }),
    milliseconds,
    answer,
  }
}

export const OUTCOME = {
  status: { type: 'integer', description: 'The status of the response; absent: there was none' },
  error: { type: 'string', description: 'Why there was no response' },
  milliseconds: { type: 'integer' },
  answer: {
    type: 'string',
    description: 'Its first 1 KiB at most; empty once a device of the delivery is erased',
  },
}

const FIELDS = {
  number: { type: 'integer', description: 'Increases with every delivery of the notification' },
  at: TIME,
  ids: { type: 'array', items: { type: 'string' }, description: 'The items in it' },
  attempt: { type: 'integer', description: '1: the first' },
  ...OUTCOME,
}

const DELIVERY: JsonSchema = objectOf(
  {
    ...FIELDS,
    text: {
      type: 'string',
      description: 'The first item as a sentence; absent: it no longer exists',
    },
  },
  { title: 'Delivery', optional: ['status', 'error', 'text'] },
)

const RENDERED = `
Only the ids of a request's items are stored: it is rendered again when read, from the items that still exist, with current
names and settings. Erased items are absent, as are the signature, tokens and custom headers; the
\`mark\` of every batch is \`rendered again\`.
`.trim()

const DELIVERY_CONTENT: JsonSchema = objectOf(
  {
    ...FIELDS,
    items: {
      type: 'array',
      description: 'The items that still exist, each as a sentence',
      items: objectOf(
        { id: { type: 'string' }, text: { type: 'string' } },
        { title: 'DeliveredItem' },
      ),
    },
    request: {
      anyOf: [
        objectOf(
          {
            to: { type: 'string', description: 'Scheme and host, or the recipients of a mail' },
            headers: { type: 'object', additionalProperties: { type: 'string' } },
            body: { type: 'string' },
          },
          { title: 'DeliveredRequest' },
        ),
        { type: 'null' },
      ],
      description: 'Null: none of its items still exists',
    },
  },
  { title: 'DeliveryContent', optional: ['status', 'error'] },
)
