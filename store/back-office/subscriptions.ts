import {
  MOST_DELIVERIES,
  MOST_SUBSCRIPTIONS,
  MOST_MAILS_AN_HOUR,
  type SubscriptionDelivery,
  type DeviceSubscription,
} from '../../schemas/subscriptions/subscription.ts'
import type { DocumentStore, Kind } from '../documents.ts'
import type { SubscriptionStore } from '../subscriptions.ts'
import { changeDocument } from './changing.ts'
import { subscriptionsWithProgress, type ProgressDocument } from './subscription-progress.ts'
import {
  amountOf,
  DEFINITION,
  definitionDocuments,
  type DefinitionDocument,
} from './definition-documents.ts'
import { NOTHING, type DefinitionTotals } from './definition-totals.ts'

export const SUBSCRIPTIONS: Kind<DefinitionDocument> = { name: 'subscriptions', ...DEFINITION }

/** A later delivery of the same subscription replaces one that is no longer stored. */
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
      await changeDocument(deliveries, id, ({ revision, number }) =>
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

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** The number of mails that an account has caused. Its id is the account's. */
type MailsDocument = {
  readonly id: string
  readonly sentAt: readonly number[]
  /** The addresses that were asked to sign in. */
  readonly asked: readonly { readonly address: string; readonly at: number }[]
}

export const MAILS: Kind<MailsDocument> = { name: 'mails', indexes: {} }

/** Counts mails before they are sent, across all processes. */
export function mailsOf(mails: DocumentStore<MailsDocument>): Pick<SubscriptionStore, 'takeMail'> {
  return {
    async takeMail({ accountId, at, asks }) {
      if ((await mails.get(accountId)) === undefined) {
        await mails.insert([{ id: accountId, sentAt: [], asked: [] }])
      }
      let waitMs = 0
      await changeDocument(mails, accountId, (before) => {
        const sentAt = before.sentAt.filter((time) => at - time < HOUR_MS)
        const asked = before.asked.filter((one) => at - one.at < DAY_MS)
        const [oldest = at] = sentAt
        const last = asked.find(({ address }) => address === asks)
        if (last !== undefined) waitMs = last.at + DAY_MS - at
        else waitMs = sentAt.length < MOST_MAILS_AN_HOUR ? 0 : oldest + HOUR_MS - at
        if (waitMs > 0) return undefined
        const asking = asks === undefined ? [] : [{ address: asks, at }]
        return { ...before, sentAt: [...sentAt, at], asked: [...asked, ...asking] }
      })
      return waitMs
    },
  }
}
