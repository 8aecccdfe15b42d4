import { uncounted, type DeviceSubscription } from '../../schemas/subscriptions/subscription.ts'
import { gapItem, type Item } from '../item.ts'
import { withoutLease } from './lease.ts'
import { mailWaitMs } from './mail-pace.ts'
import type { Requester } from './request.ts'
import type { RunnerParts, RunnerState, SubscriptionKey } from './runner-state.ts'

const WAITS_MS = 20_000
/** A mark that has passed only unwanted entries is not worth more writes. */
const SAVED_EVERY_MS = 60_000
/** Items that were read longer ago are read again: one of their devices may have been erased. */
const FRESH_MS = 500

/** Sends the items after the mark, and moves it. */
export function nextSender(
  key: SubscriptionKey,
  { store, items, leases, clock, stopping }: RunnerParts,
  {
    state,
    requests,
    rest,
  }: {
    readonly state: RunnerState
    readonly requests: Requester
    readonly rest: (ms: number) => Promise<void>
  },
) {
  /** Where it reads on: entries between the stored mark and this one are not wanted. */
  let cursor = { from: '', revision: 0, mark: '', savedAt: clock.now() }

  async function sendNext(subscription: DeviceSubscription): Promise<void> {
    const { progress, revision } = subscription
    if (cursor.from !== progress.mark || cursor.revision !== revision) {
      cursor = { from: progress.mark, revision, mark: progress.mark, savedAt: clock.now() }
    }
    const read = (waitMs: number) =>
      items.after(subscription, {
        mark: cursor.mark,
        limit: requests.mostItems(subscription),
        waitMs,
        now: () => clock.now(),
        signal: state.wake.signal,
      })
    let page = await read(WAITS_MS)
    if (stopping.aborted) return
    const isGap = page.gap && progress.gapToldAt !== cursor.mark
    const [first] = page.told
    if (first === undefined && !isGap) {
      state.waitingSince = undefined
      cursor.mark = page.mark
      if (page.end) await saveCursor(subscription)
      return
    }
    state.waitingSince = first?.item.since
    if (first !== undefined && subscription.target.kind === 'email') {
      const waitMs = mailWaitMs(progress.mailedAt, first.item.since, clock.now())
      if (waitMs > 0) return rest(waitMs)
    }
    const readAt = performance.now()
    await requests.withTurn(subscription, async (claimed) => {
      if (claimed.progress.mark !== cursor.from || claimed.revision !== revision) return
      if (performance.now() - readAt > FRESH_MS) page = await read(0)
      const gap: Item = gapItem(cursor.mark, clock.now())
      const told = isGap ? [{ item: gap, deviceName: '' }] : page.told
      if (told.length === 0) return
      await requests.attempt(claimed, {
        told,
        markAfter: (count) => (isGap ? cursor.mark : page.markAfter(count)),
        moves: true,
        end: page.end && !isGap,
        keep: !page.end || isGap,
        ...(isGap && { gapToldAt: cursor.mark }),
      })
    })
  }

  /** Saves how far nothing was wanted, so that the next start does not read it again. */
  async function saveCursor(subscription: DeviceSubscription): Promise<void> {
    const { from, mark, savedAt } = cursor
    const isCounted = subscription.progress.waiting !== undefined
    if (mark === from || (!isCounted && clock.now() - savedAt < SAVED_EVERY_MS)) return
    cursor.savedAt = clock.now()
    const saved = await store.changeProgress(key, (progress, revision) => {
      const isMoved = progress.mark !== from || leases.heldFor(progress) > 0
      if (isMoved || revision !== subscription.revision) return undefined
      return { ...uncounted(withoutLease(progress)), mark }
    })
    if (saved === 'refused' || saved === undefined) state.isStale = true
    else {
      state.current = { ...subscription, progress: saved.progress }
      cursor.from = mark
    }
  }

  return { sendNext }
}
