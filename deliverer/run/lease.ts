import type {
  DeviceSubscription,
  SubscriptionProgress,
} from '../../schemas/subscriptions/subscription.ts'
import type { SubscriptionStore } from '../../store/subscriptions.ts'

const LEASE_MS = 10_000
const RENEWED_EVERY_MS = 3_000

type Key = Pick<DeviceSubscription, 'accountId' | 'id'>

/**
 * The right to deliver for a subscription, which one process has at a time. Unless it is renewed,
 * another process may take it after 10 s; until then, the first process still has it.
 */
export function leases({
  store,
  owner,
  now,
}: {
  store: Pick<SubscriptionStore, 'changeProgress'>
  owner: string
  now: () => number
}) {
  const isOwn = ({ lease }: SubscriptionProgress) => lease?.owner === owner
  const renewed = (progress: SubscriptionProgress): SubscriptionProgress => ({
    ...progress,
    lease: { owner, until: now() + LEASE_MS },
  })

  return {
    /** How much longer another process holds the lease. */
    heldFor({ lease }: SubscriptionProgress): number {
      return lease === undefined || lease.owner === owner ? 0 : Math.max(0, lease.until - now())
    },

    /**
     * Takes the lease. Undefined if another process has it, `unless` forbids it, or the
     * subscription was changed or deleted.
     */
    async take(
      subscription: DeviceSubscription,
      unless: () => boolean,
    ): Promise<DeviceSubscription | undefined> {
      const taken = await store.changeProgress(subscription, (progress, revision) => {
        const { lease } = progress
        const isHeld = lease !== undefined && lease.owner !== owner && lease.until > now()
        const isOther = revision !== subscription.revision
        return isHeld || isOther || unless() ? undefined : renewed(progress)
      })
      if (taken === 'refused' || taken === undefined) return undefined
      return { ...subscription, progress: taken.progress }
    },

    /** Renews it until the returned function is called. */
    keep(key: Key): () => void {
      const timer = setInterval(() => {
        store
          .changeProgress(key, (progress) => (isOwn(progress) ? renewed(progress) : undefined))
          // The write after the request detects this.
          .catch(() => undefined)
      }, RENEWED_EVERY_MS)
      timer.unref()
      return () => clearInterval(timer)
    },

    /**
     * Writes progress if this process still has the lease, and releases the lease unless `keep`.
     * Undefined if the lease was lost; nothing is written then. `revision`: the subscription's
     * current revision.
     */
    async write(
      key: Key,
      next: (progress: SubscriptionProgress, revision: number) => SubscriptionProgress,
      { keep }: { keep: boolean },
    ): Promise<{ readonly progress: SubscriptionProgress; readonly revision: number } | undefined> {
      const written = await store.changeProgress(key, (current, revision) => {
        if (!isOwn(current)) return undefined
        const progress = runWithoutLease(next(current, revision))
        return keep ? renewed(progress) : progress
      })
      return written === 'refused' ? undefined : written
    },
  }
}

export type Leases = ReturnType<typeof leases>

export function runWithoutLease({
  lease: _lease,
  ...progress
}: SubscriptionProgress): SubscriptionProgress {
  return progress
}
