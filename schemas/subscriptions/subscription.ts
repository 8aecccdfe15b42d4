import type { FactType } from '../facts/facts.ts'
import type { FieldRevisions } from '../definitions/field-revisions.ts'
import type { DeviceSelection } from '../definitions/selection.ts'

/**
 * A subscription notifies a receiver of what happens to devices: a durable cursor on the log, and a
 * target.
 */
export type SubscriptionContent = DeviceSelection & {
  readonly name: string
  readonly source: Source
  /** Only facts of these types. */
  readonly types?: readonly FactType[]
  /** Only facts about one of these geofences, or of a device that is in one. */
  readonly geofenceIds?: readonly string[]
  /** Only facts about one of these rules. */
  readonly ruleIds?: readonly string[]
  /** Only items whose `at` is within these hours. */
  readonly hours?: Hours
  /**
   * IANA zone of the times in chats and mails; by default that of `hours`, or else the server's.
   */
  readonly zone?: string
  /** Minimum time between two deliveries. */
  readonly everySeconds: number
  /** Items decided longer ago are skipped; see `maxAgeMs` for the default. */
  readonly maxAgeSeconds?: number
  readonly target: ShownTarget
}

export const SOURCES = ['facts', 'positions'] as const
export type Source = (typeof SOURCES)[number]

/**
 * Times of day in a zone. If `from` is later than `to`, the range passes midnight and belongs to
 * the day on which it starts.
 */
export type Hours = {
  /** 1: Monday, 7: Sunday. */
  readonly days: readonly number[]
  /** `HH:MM`. */
  readonly from: string
  readonly to: string
  /** IANA, `Europe/Berlin`. */
  readonly zone: string
}

export const TARGET_KINDS = ['webhook', 'ntfy', 'telegram', 'slack', 'email'] as const

/** A target as needed for sending. URLs, headers and tokens are secrets. */
export type SubscriptionTarget =
  | {
      readonly kind: 'webhook'
      readonly url: string
      readonly headers?: Readonly<Record<string, string>>
      /** Maximum number of items in a request; by default a single item, not in a list. */
      readonly batch?: number
    }
  | { readonly kind: 'ntfy'; readonly url: string; readonly token?: string }
  | {
      readonly kind: 'telegram'
      readonly token: string
      readonly chatId: string
      /** A topic of the group. */
      readonly threadId?: number
    }
  | { readonly kind: 'slack'; readonly url: string }
  | { readonly kind: 'email'; readonly to: readonly string[] }

/** A target without its secrets. `url`: scheme and host. */
export type ShownTarget =
  | { readonly kind: 'webhook'; readonly url: string; readonly batch?: number }
  | { readonly kind: 'ntfy' | 'slack'; readonly url: string }
  | { readonly kind: 'telegram'; readonly chatId: string; readonly threadId?: number }
  | { readonly kind: 'email'; readonly to: readonly string[] }

/** A secret for signing webhooks; `until`: it has been replaced and is used until then. */
export type SigningSecret = { readonly secret: string; readonly until?: number }

/** The encrypted parts of a subscription. `signing`: for webhooks, newest first. */
export type SubscriptionSecrets = {
  readonly target: SubscriptionTarget
  readonly signing: readonly SigningSecret[]
}

export function publicTarget(target: SubscriptionTarget): ShownTarget {
  switch (target.kind) {
    case 'webhook': {
      const { kind, url, batch } = target
      return { kind, url: new URL(url).origin, ...(batch !== undefined && { batch }) }
    }
    case 'ntfy':
    case 'slack':
      return { kind: target.kind, url: new URL(target.url).origin }
    case 'telegram': {
      const { kind, chatId, threadId } = target
      return { kind, chatId, ...(threadId !== undefined && { threadId }) }
    }
    case 'email':
      return target
  }
}

/**
 * The progress of a subscription. Changes with every delivery. Times in milliseconds since the
 * epoch.
 */
export type SubscriptionProgress = {
  /** The mark after the last item delivered, set aside or not wanted. */
  readonly mark: string
  /** The only process that may deliver, until then. */
  readonly lease?: { readonly owner: string; readonly until: number }
  /**
   * Failed attempts in a row, how often this item alone was rejected, and when the next attempt is
   * due.
   */
  readonly attempt?: {
    readonly failures: number
    readonly refusals: number
    readonly refusedId?: string
    readonly nextAt: number
  }
  /**
   * Since when the receiver has been failing, and the last reason, or the recipients whom the last
   * mail did not reach.
   */
  readonly failingSince?: number
  readonly lastError?: string
  /**
   * Mails to recipients temporarily refused by the mail server, oldest first. The other recipients
   * have received them.
   */
  readonly late?: {
    readonly mails: readonly LateMail[]
    readonly failures: number
    readonly nextAt: number
  }
  /** A warning for operators about the last delivery although it succeeded. */
  readonly notice?: string
  /** Time since which the subscription failed, until all waiting items have been sent. */
  readonly backlogSince?: number
  /** The warnings of this failure already given. */
  readonly warned?: number
  readonly disabledAt?: number
  /** The number of items waiting while it fails or is disabled. */
  readonly waiting?: WaitingItems
  /** When the last success was, and when a delivery last started. */
  readonly succeededAt?: number
  readonly deliveredAt?: number
  /** The mails of the last hour. */
  readonly mailedAt?: readonly number[]
  /** The number of deliveries so far. */
  readonly deliveries: number
  /** Items refused by the receiver, the newest last, and how many in a row. */
  readonly setAside: readonly SetAside[]
  readonly setAsideInARow: number
  /** Ids of items to resend, before the rest. */
  readonly resend: readonly string[]
  /** The last requested test, and its outcome. */
  readonly test?: { readonly id: string; readonly outcome?: DeliveryOutcome }
  /** The mark after which entries were missing or omitted, once the receiver has been notified. */
  readonly gapToldAt?: string
}

export type LateMail = {
  readonly to: readonly string[]
  /** Ids of the request's items. */
  readonly ids: readonly string[]
  readonly since: number
}

export type WaitingItems = {
  readonly count: number
  /** Whether more items are waiting than were counted. */
  readonly more: boolean
  /** The mark after the last item counted. */
  readonly mark: string
}

export type SetAside = {
  readonly id: string
  readonly at: number
  readonly status: number
}

/** The result of one request. `answer`: the start of the receiver's response. */
export type DeliveryOutcome = {
  readonly status?: number
  readonly error?: string
  readonly milliseconds: number
  readonly answer: string
}

/** A request to a receiver, stored for a limited time. */
export type SubscriptionDelivery = DeliveryOutcome & {
  readonly accountId: string
  readonly subscriptionId: string
  /** Numbers the deliveries of a subscription. */
  readonly number: number
  readonly at: number
  /** The items in it. */
  readonly ids: readonly string[]
  /**
   * The items' devices, if the receiver's response has a text, because it may repeat the request.
   * Earlier versions did not record them.
   */
  readonly deviceIds?: readonly string[]
  /** 1: the first. */
  readonly attempt: number
}

export type DeviceSubscription = SubscriptionContent & {
  readonly id: string
  readonly accountId: string
  readonly createdAt: number
  readonly changedAt: number
  /** Increases with every change made by operators. */
  readonly revision: number
  readonly changedIn?: FieldRevisions
  /** `SubscriptionSecrets` as JSON, encrypted. */
  readonly sealed: string
  readonly progress: SubscriptionProgress
}

export const MOST_SUBSCRIPTIONS = 50
export const MOST_DELIVERIES = 1_000
/** Maximum number of an account's mails: deliveries, tests and warnings together. */
export const MOST_MAILS_AN_HOUR = 60
export const DELIVERIES_KEPT_MS = 7 * 24 * 3_600_000

/** Mails and chats are about current events. */
const NEWS_SECONDS = 3_600

/** How long after their decision items are sent, unless the receiver fails in the meantime. */
export function maxAgeMs({
  target,
  maxAgeSeconds = target.kind === 'webhook' ? Infinity : NEWS_SECONDS,
}: Pick<SubscriptionContent, 'target' | 'maxAgeSeconds'>): number {
  return maxAgeSeconds * 1_000
}

export function newProgress(mark: string): SubscriptionProgress {
  return { mark, deliveries: 0, setAside: [], setAsideInARow: 0, resend: [] }
}

/** Without a failure, and with all previous attempts at an item. */
export function markHealthy({
  attempt: _attempt,
  failingSince,
  backlogSince = failingSince,
  lastError: _lastError,
  warned: _warned,
  ...progress
}: SubscriptionProgress): SubscriptionProgress {
  return { ...progress, ...(backlogSince !== undefined && { backlogSince }), setAsideInARow: 0 }
}

/** Everything that waited while the receiver failed has been sent. */
export function markCaughtUp({
  backlogSince: _backlogSince,
  ...progress
}: SubscriptionProgress): SubscriptionProgress {
  return progress
}

/** Without the number of waiting items, because others may wait from now on. */
export function omitWaiting({
  waiting: _waiting,
  ...progress
}: SubscriptionProgress): SubscriptionProgress {
  return progress
}

export const SUBSCRIPTION_STATES = ['active', 'failing', 'paused', 'disabled'] as const
export type SubscriptionState = (typeof SUBSCRIPTION_STATES)[number]

/** `suspended`: whether its account is suspended. */
export function subscriptionState(
  { progress }: DeviceSubscription,
  { suspended }: { suspended: boolean },
): SubscriptionState {
  if (progress.disabledAt !== undefined) return 'disabled'
  if (suspended) return 'paused'
  return progress.failingSince === undefined ? 'active' : 'failing'
}
