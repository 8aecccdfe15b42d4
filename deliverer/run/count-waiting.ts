import type { Clock } from '../../runtime/clock.ts'
import type { DeviceSubscription, WaitingItems } from '../../schemas/subscriptions/subscription.ts'
import type { SubscriptionStore } from '../../store/subscriptions.ts'
import type { ItemReader } from './next-items.ts'

const COUNTED_EVERY_MS = 60_000
const MOST_AT_ONCE = 1_000
const MOST_COUNTED = 10_000

/**
 * Counts what waits for a receiver that fails or is disabled, up to 10 000 items. Each count continues where the one
 * before ended, so every entry is read once, and no more often than every minute.
 */
export function waitingCounter({
  store,
  items,
  clock,
}: {
  store: Pick<SubscriptionStore, 'changeProgress'>
  items: ItemReader
  clock: Clock
}) {
  let countedAt = -Infinity

  async function counted(
    subscription: DeviceSubscription,
    signal: AbortSignal,
  ): Promise<WaitingItems> {
    const { mark, waiting } = subscription.progress
    let result = waiting ?? { count: 0, more: false, mark }
    while (result.count < MOST_COUNTED && !signal.aborted) {
      const page = await items.after(subscription, {
        mark: result.mark,
        limit: MOST_AT_ONCE,
        waitMs: 0,
        now: () => clock.now(),
        signal,
      })
      const count = result.count + page.told.length
      result = { count, more: !page.end, mark: page.mark }
      if (page.end) break
    }
    return result
  }

  return {
    /** Returns the subscription with its count; undefined if the count is recent, or has been stored by another. */
    async count(
      subscription: DeviceSubscription,
      signal: AbortSignal,
    ): Promise<DeviceSubscription | undefined> {
      const { progress, revision } = subscription
      const isRecent = clock.now() - countedAt < COUNTED_EVERY_MS
      if (isRecent && progress.waiting !== undefined) return undefined
      const waiting = await counted(subscription, signal)
      countedAt = clock.now()
      if (waiting.count === 0 || waiting.mark === progress.waiting?.mark) return undefined
      const changed = await store.changeProgress(subscription, (current, revisionNow) => {
        const isSame =
          revisionNow === revision &&
          current.mark === progress.mark &&
          current.waiting?.mark === progress.waiting?.mark
        return isSame ? { ...current, waiting } : undefined
      })
      if (changed === 'refused' || changed === undefined) return undefined
      return { ...subscription, progress: changed.progress }
    },
  }
}
