import type {
  SubscriptionDelivery,
  DeviceSubscription,
  SubscriptionProgress,
} from '../schemas/subscriptions/subscription.ts'
import type { DefinitionsPage } from './back-office.ts'
import type { ChangesPage, ChangesQuery, TooLarge } from './definitions.ts'

type InAccount = { readonly accountId: string; readonly id: string }

/** Subscriptions with their progress, and what was sent for them. Another account never sees them. */
export interface SubscriptionStore {
  /** Stores nothing if the account has `MOST_SUBSCRIPTIONS`, or its definitions are too large. */
  createSubscription(subscription: DeviceSubscription): Promise<'stored' | 'too many' | TooLarge>
  /** Newest first. */
  pageSubscriptions(query: DefinitionsPage): Promise<DeviceSubscription[]>
  findSubscription(query: InAccount): Promise<DeviceSubscription | undefined>
  /**
   * Replaces a subscription by `next(subscription)`, by compare-and-set of the whole: `next` is called again if
   * another change came between. Returns `refused`, and changes nothing, if `next` returns undefined or the account's
   * definitions would be too large; undefined if the subscription does not exist.
   */
  changeSubscription(
    query: InAccount,
    next: (before: DeviceSubscription) => DeviceSubscription | undefined,
  ): Promise<DeviceSubscription | 'refused' | undefined>
  /**
   * The same for progress alone, without reading the subscription. `revision`: that of the subscription, which a
   * change of it moves on before the change is answered.
   */
  changeProgress(
    query: InAccount,
    next: (before: SubscriptionProgress, revision: number) => SubscriptionProgress | undefined,
  ): Promise<
    { readonly progress: SubscriptionProgress; readonly revision: number } | 'refused' | undefined
  >
  /** Returns the deleted one. What was sent for it goes too. */
  deleteSubscription(
    query: InAccount & { readonly deletedAt: number },
  ): Promise<DeviceSubscription | undefined>
  /** The subscriptions of all accounts in the order of their versions; `changedAt` stays where only progress was made. */
  changedSubscriptions(query: ChangesQuery): Promise<ChangesPage<DeviceSubscription>>

  /**
   * Counts a mail of an account before it is sent: 0. Otherwise how long to wait, and nothing is counted: the account
   * has sent `MOST_MAILS_AN_HOUR`, or this address (`asks`) has been asked to sign in within a day.
   */
  takeMail(mail: {
    readonly accountId: string
    readonly at: number
    readonly asks?: string
  }): Promise<number>

  /** Kept for `DELIVERIES_KEPT_MS`, the last `MOST_DELIVERIES` of each subscription. */
  saveDelivery(delivery: SubscriptionDelivery): Promise<void>
  /** Newest first. `before`: the number of the last one of the page before. */
  pageDeliveries(query: {
    readonly subscriptionId: string
    readonly limit: number
    readonly before?: number
  }): Promise<SubscriptionDelivery[]>
}
