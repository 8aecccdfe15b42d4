import type {
  SubscriptionDelivery,
  DeviceSubscription,
  SubscriptionProgress,
} from '../schemas/subscriptions/subscription.ts'
import type { DefinitionsPage } from './back-office.ts'
import type { ChangesPage, ChangesQuery, TooLarge } from './definitions.ts'

type InAccount = { readonly accountId: string; readonly id: string }

/** Subscriptions with their progress, and their deliveries. Other accounts never see them. */
export interface SubscriptionStore {
  /** Stores nothing if the account has `MOST_SUBSCRIPTIONS`, or its definitions are too large. */
  createSubscription(subscription: DeviceSubscription): Promise<'stored' | 'too many' | TooLarge>
  /** Newest first. */
  pageSubscriptions(query: DefinitionsPage): Promise<DeviceSubscription[]>
  findSubscription(query: InAccount): Promise<DeviceSubscription | undefined>
  /**
   * Replaces a subscription with `next(subscription)`, by compare-and-set of the whole: `next` is
   * called again after a concurrent change. Returns `refused`, and changes nothing, if `next`
   * returns undefined or the account's definitions would be too large; undefined if the
   * subscription does not exist.
   */
  changeSubscription(
    query: InAccount,
    next: (before: DeviceSubscription) => DeviceSubscription | undefined,
  ): Promise<DeviceSubscription | 'refused' | undefined>
  /**
   * Changes only the progress, without reading the subscription. `revision`: that of the
   * subscription; a change of the subscription increases it before the change is confirmed.
   */
  changeProgress(
    query: InAccount,
    next: (before: SubscriptionProgress, revision: number) => SubscriptionProgress | undefined,
  ): Promise<
    { readonly progress: SubscriptionProgress; readonly revision: number } | 'refused' | undefined
  >
  /** Returns the deleted subscription. Its deliveries are deleted too. */
  deleteSubscription(
    query: InAccount & { readonly deletedAt: number },
  ): Promise<DeviceSubscription | undefined>
  /**
   * The subscriptions of all accounts in the order of their versions; `changedAt` does not change
   * with mere progress.
   */
  changedSubscriptions(query: ChangesQuery): Promise<ChangesPage<DeviceSubscription>>

  /**
   * Counts a mail of an account before it is sent, and returns 0. Otherwise returns how long to
   * wait, and counts nothing: the account has sent `MOST_MAILS_AN_HOUR`, or this address (`asks`)
   * has been asked to sign in within a day.
   */
  takeMail(mail: {
    readonly accountId: string
    readonly at: number
    readonly asks?: string
  }): Promise<number>

  /** Kept for `DELIVERIES_KEPT_MS`, at most the last `MOST_DELIVERIES` of each subscription. */
  saveDelivery(delivery: SubscriptionDelivery): Promise<void>
  /** Newest first. `before`: the number of the last delivery on the previous page. */
  pageDeliveries(query: {
    readonly subscriptionId: string
    readonly limit: number
    readonly before?: number
  }): Promise<SubscriptionDelivery[]>
}
