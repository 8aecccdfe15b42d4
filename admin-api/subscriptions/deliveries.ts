import type { Clock } from '../../runtime/clock.ts'
import { objectOf, type JsonSchema } from '../../runtime/openapi/json-schema.ts'
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
import { PAGE_PARAMETERS, type PageQuery } from '../http/query.ts'
import { requireKnown } from '../http/resource.ts'
import { isoTime, TIME } from '../http/views.ts'

const DAY_MS = 24 * 3_600_000
/** Also covers a request that had just been rendered when the device was erased. */
const CLOCKS_DIFFER_BY_MS = 60_000

/** The latest requests of a subscription, and what each of them came to. */
export function deliveriesRoute({
  store,
  clock,
}: {
  store: Pick<Store, 'findSubscription' | 'pageDeliveries' | 'erasuresOf' | 'retentionDays'>
  clock: Clock
}): AdminRoute {
  async function list(
    ctx: AdminContext,
    { accountId }: Caller,
    { query: { limit, cursor } }: Input<PageQuery>,
  ): Promise<void> {
    const subscriptionId = pathParameter(ctx, 'id')
    requireKnown('subscription', await store.findSubscription({ accountId, id: subscriptionId }))
    const of = { name: 'deliveries', accountId, filter: { subscriptionId } }
    const [before] = readCursor(cursor, of, ['number']) ?? []
    const found = await store.pageDeliveries({
      subscriptionId,
      limit: limit + 1,
      ...(before !== undefined && { before }),
    })
    const oldest = clock.now() - DELIVERIES_KEPT_MS
    await answerPage(ctx, {
      list: of,
      limit,
      items: await withoutErased(
        accountId,
        found.filter(({ at }) => at >= oldest),
      ),
      placeOf: ({ number }) => [number],
      view: deliveryView,
    })
  }

  /** A receiver may repeat what it got: answers to deliveries about a device that has been erased since are left out. */
  async function withoutErased(
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

  return route({
    method: 'GET',
    path: '/subscriptions/:id/deliveries',
    summary: 'Lists the deliveries of a subscription, newest first',
    description: 'The last 1000 requests of 7 days.',
    needs: 'dispatcher',
    query: PAGE_PARAMETERS,
    answer: { data: pageOf(DELIVERY) },
    handle: list,
  })
}

function deliveryView(delivery: SubscriptionDelivery) {
  const { at, ids, attempt } = delivery
  return { at: isoTime(at), ids, attempt, ...outcomeView(delivery) }
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
  status: { type: 'integer', description: 'The status of the answer; absent: there was none' },
  error: { type: 'string', description: 'Why there was no answer' },
  milliseconds: { type: 'integer' },
  answer: {
    type: 'string',
    description: 'Its beginning, 1 KiB at most; empty once a device of the delivery is erased',
  },
}

const DELIVERY: JsonSchema = objectOf(
  {
    at: TIME,
    ids: { type: 'array', items: { type: 'string' }, description: 'The items in it' },
    attempt: { type: 'integer', description: '1: the first' },
    ...OUTCOME,
  },
  { title: 'Delivery', optional: ['status', 'error'] },
)
