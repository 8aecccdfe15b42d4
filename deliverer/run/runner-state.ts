import type { Clock } from '../../runtime/clock.ts'
import type { SealedSecrets } from '../../runtime/process/sealed-secrets.ts'
import type {
  DeviceSubscription,
  SubscriptionProgress,
} from '../../schemas/subscriptions/subscription.ts'
import type { SubscriptionStore } from '../../store/subscriptions.ts'
import type { SendItems } from '../send/send-items.ts'
import type { RequestSlots } from '../slots.ts'
import type { Leases } from './lease.ts'
import type { ItemReader } from './next-items.ts'
import type { Pause } from './pauses.ts'

export type RunnerParts = {
  readonly store: SubscriptionStore
  readonly items: ItemReader
  readonly leases: Leases
  readonly secrets: SealedSecrets
  readonly send: SendItems
  readonly slots: RequestSlots
  readonly clock: Clock
  readonly pause: Pause
  readonly random: () => number
  readonly isSuspended: (accountId: string) => boolean
  readonly onAttempt: (attempt: AttemptReport) => void
  readonly logger: { warn(fields: object, message: string): void }
  /** Ends all runners. */
  readonly stopping: AbortSignal
}

export type AttemptReport = {
  readonly subscription: DeviceSubscription
  readonly outcome: 'delivered' | 'failed' | 'refused'
  /** Its progress before. */
  readonly before: SubscriptionProgress
}

export type SubscriptionKey = { readonly accountId: string; readonly id: string }

/** State shared by the parts of a runner. */
export type RunnerState = {
  /** The subscription as it was last seen. */
  current: DeviceSubscription | undefined
  /** Whether it must be read again. */
  isStale: boolean
  /** Whether somebody has changed it since it was read. */
  isChanged: boolean
  /** Since when its oldest known item could have been sent; undefined: none waits. */
  waitingSince: number | undefined
  /** Aborted when somebody has changed it, or the process stops. */
  wake: AbortController
}
