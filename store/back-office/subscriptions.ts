import {
  MOST_DELIVERIES,
  MOST_SUBSCRIPTIONS,
  type SubscriptionDelivery,
  type DeviceSubscription,
} from '../../schemas/subscriptions/subscription.ts'
import type { DocumentStore, Kind } from '../documents.ts'
import type { SubscriptionStore } from '../subscriptions.ts'
import { changed } from './changing.ts'
import { subscriptionsWithProgress, type ProgressDocument } from './subscription-progress.ts'
import {
  amountOf,
  DEFINITION,
  definitionDocuments,
  type DefinitionDocument,
} from './definition-documents.ts'
import { NOTHING, type DefinitionTotals } from './definition-totals.ts'

export const SUBSCRIPTIONS: Kind<DefinitionDocument> = { name: 'subscriptions', ...DEFINITION }

/** A later delivery of the same subscription takes the place of one that is no longer kept. */
type DeliveryDocument = SubscriptionDelivery & { readonly id: string }

export const DELIVERIES: Kind<DeliveryDocument> = {
  name: 'deliveries',
  indexes: {
    newest: { fields: ['subscriptionId', 'number'] },
    sent: { fields: ['at'] },
  },
}

/** Subscriptions and their deliveries, on top of a database's documents. */
export function subscriptionsOf(open: {
  subscriptions: DocumentStore<DefinitionDocument>
  progress: DocumentStore<ProgressDocument>
  deliveries: DocumentStore<DeliveryDocument>
  totals: DefinitionTotals
}): Omit<SubscriptionStore, 'takeMail'> {
  const definitions = definitionDocuments<DeviceSubscription>(open.subscriptions)
  const subscriptions = subscriptionsWithProgress(definitions, open.progress)
  const { deliveries, totals } = open

  return {
    async createSubscription(subscription) {
      const { accountId, id, createdAt } = subscription
      const amount = amountOf(subscription)
      const isTooLarge = await totals.takeBytes(accountId, amount.bytes)
      if (isTooLarge !== undefined) return isTooLarge
      await subscriptions.insert(subscription)
      const all = await definitions.pageNames({ accountId, limit: MOST_SUBSCRIPTIONS + 1 })
      if (all.length <= MOST_SUBSCRIPTIONS) return 'stored'
      await subscriptions.remove({ accountId, id }, createdAt)
      await totals.giveBack(accountId, amount)
      return 'too many'
    },

    pageSubscriptions: async (query) => subscriptions.joined(await definitions.page(query)),
    findSubscription: (query) => subscriptions.find(query),
    changeProgress: subscriptions.changeProgress,

    async changeSubscription(query, next) {
      const before = await subscriptions.find(query)
      const planned = before && next(before)
      if (before === undefined || planned === undefined) return before && 'refused'
      const more = amountOf(planned).bytes - amountOf(before).bytes
      if (more !== 0 && (await totals.takeBytes(query.accountId, more)) !== undefined) {
        return 'refused'
      }
      const outcome = await subscriptions.change(query, next)
      if (typeof outcome !== 'object') {
        await totals.giveBack(query.accountId, { ...NOTHING, bytes: more })
      }
      return outcome
    },

    async deleteSubscription({ accountId, id, deletedAt }) {
      const deleted = await subscriptions.remove({ accountId, id }, deletedAt)
      if (deleted === undefined) return undefined
      await totals.giveBack(accountId, amountOf(deleted))
      const where = { subscriptionId: id }
      await deliveries.removeOlder({ index: 'newest', where, than: Number.MAX_SAFE_INTEGER })
      return deleted
    },

    async changedSubscriptions(query) {
      const page = await definitions.changed(query)
      const changes = page.changes.map(async ({ definition, ...change }) => {
        const [joined] = definition === undefined ? [] : await subscriptions.joined([definition])
        return joined === undefined ? change : { ...change, definition: joined }
      })
      return { ...page, changes: await Promise.all(changes) }
    },

    async saveDelivery(delivery) {
      const id = `${delivery.subscriptionId}/${delivery.number % MOST_DELIVERIES}`
      const [added] = await deliveries.insert([{ ...delivery, id }])
      if (added !== undefined) return
      await changed(deliveries, id, ({ revision, number }) =>
        number >= delivery.number ? undefined : { ...delivery, id, revision },
      )
    },

    async pageDeliveries({ subscriptionId, limit, before }) {
      const query = { index: 'newest', where: { subscriptionId }, order: 'desc', limit } as const
      const after = before !== undefined && { after: { number: before, id: '' } }
      const page = await deliveries.find({ ...query, ...after })
      return page.map(({ id: _id, revision: _revision, ...delivery }) => delivery)
    },
  }
}
