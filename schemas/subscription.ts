import type { FactType } from './facts.ts'
import type { DeviceSelection } from './selection.ts'

/** A subscription tells a receiver what happens to devices: a durable cursor on the log, and a target. */
export type SubscriptionContent = DeviceSelection & {
  readonly name: string
  readonly source: Source
  /** Only facts of these types. */
  readonly types?: readonly FactType[]
  /** Only facts about one of these geofences, or of a device that is in one. */
  readonly geofenceIds?: readonly string[]
  /** Only facts about one of these rules. */
  readonly ruleIds?: readonly string[]
  /** Only items whose `at` is within. */
  readonly hours?: Hours
  /** The least time between two deliveries. */
  readonly everySeconds: number
  /** Older items are skipped; absent: none. */
  readonly maxAgeSeconds?: number
  readonly target: ShownTarget
}

export const SOURCES = ['facts', 'positions'] as const
export type Source = (typeof SOURCES)[number]

/** Times of day in a zone. `from` later than `to` runs over midnight and belongs to the day on which it begins. */
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
export type TargetKind = (typeof TARGET_KINDS)[number]

/** A target as it is sent to. URLs, headers and tokens are secrets. */
export type SubscriptionTarget =
  | {
      readonly kind: 'webhook'
      readonly url: string
      readonly headers?: Readonly<Record<string, string>>
      /** The most items in a request; absent: one, without a list around it. */
      readonly batch?: number
    }
  | { readonly kind: 'ntfy'; readonly url: string; readonly token?: string }
  | { readonly kind: 'telegram'; readonly token: string; readonly chatId: string }
  | { readonly kind: 'slack'; readonly url: string }
  | { readonly kind: 'email'; readonly to: readonly string[] }

/** A target without its secrets. `url`: scheme and host. */
export type ShownTarget =
  | { readonly kind: 'webhook'; readonly url: string; readonly batch?: number }
  | { readonly kind: 'ntfy' | 'slack'; readonly url: string }
  | { readonly kind: 'telegram'; readonly chatId: string }
  | { readonly kind: 'email'; readonly to: readonly string[] }

/** A secret that webhooks are signed with; `until`: it has been replaced and is used until then. */
export type SigningSecret = { readonly secret: string; readonly until?: number }

/** What is encrypted of a subscription. `signing`: of webhooks, the newest first. */
export type SubscriptionSecrets = {
  readonly target: SubscriptionTarget
  readonly signing: readonly SigningSecret[]
}

export function shownTarget(target: SubscriptionTarget): ShownTarget {
  switch (target.kind) {
    case 'webhook': {
      const { kind, url, batch } = target
      return { kind, url: new URL(url).origin, ...(batch !== undefined && { batch }) }
    }
    case 'ntfy':
    case 'slack':
      return { kind: target.kind, url: new URL(target.url).origin }
    case 'telegram':
      return { kind: target.kind, chatId: target.chatId }
    case 'email':
      return target
  }
}
