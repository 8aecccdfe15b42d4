import { setTimeout as wait } from 'node:timers/promises'
import {
  markCaughtUp,
  omitWaiting,
  type DeviceSubscription,
  type SubscriptionProgress,
} from '../../schemas/subscriptions/subscription.ts'
import type { SubscriptionStore } from '../../store/subscriptions.ts'
import { mailWaitMs } from '../after-attempt.ts'
import { findOldestLate, removeOldest } from '../late-mails.ts'
import { gapItem, testItem } from '../../schemas/subscriptions/item.ts'
import type { RequestSlots } from '../turns.ts'
import { attempts, type AttemptParts, type Load } from './attempt.ts'
import { runWithoutLease } from './lease.ts'
import type { ItemReader } from './next-items.ts'

const RETRY_MS = 1_000
const LOOKS_EVERY_MS = 60_000
const WAITS_MS = 20_000
/** A mark that has only passed unwanted entries is not worth more writes. */
const SAVED_EVERY_MS = 60_000
/** Items read longer ago than this are read again: one of their devices may have been erased. */
const FRESH_MS = 500
const COUNTED_EVERY_MS = 60_000

export type RunnerParts = AttemptParts & {
  readonly store: SubscriptionStore
  readonly items: ItemReader
  readonly slots: RequestSlots
  /** Waits, or returns earlier when `signal` is aborted. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>
  readonly isSuspended: (accountId: string) => boolean
  /** Ends all runners. */
  readonly stopping: AbortSignal
}

/** The outcome of a step. */
type Next = {
  /** The current subscription; absent if it must be read again. */
  readonly subscription?: DeviceSubscription | undefined
  readonly restMs?: number
}

/** Delivers for one subscription: one request at a time, in the order of its log. */
export function runSubscription(
  key: { readonly accountId: string; readonly id: string },
  parts: RunnerParts,
) {
  const { store, items, leases, slots, clock, logger, stopping, pause = pauseUnlessAborted } = parts
  const now = () => clock.now()
  const { attempt, mostItems } = attempts(parts)
  let current: DeviceSubscription | undefined
  let waitingSince: number | undefined
  /** Aborted when the subscription has been changed, or the process stops. */
  let wake = new AbortController()
  /** The mark where reading continues: no entry between the stored mark and this one is wanted. */
  let cursor = { from: '', revision: 0, mark: '', savedAt: now(), leftOut: 0 }
  let countedAt = -Infinity

  async function run(): Promise<void> {
    let next: Next = {}
    while (!stopping.aborted) {
      if (wake.signal.aborted) {
        wake = new AbortController()
        next = {}
      }
      try {
        current = next.subscription ?? (await store.findSubscription(key))
        if (current === undefined) return
        next = await step(current)
      } catch (error) {
        if (stopping.aborted) return
        logger.warn({ err: error, subscriptionId: key.id }, 'deliveries delayed; retrying')
        next = { restMs: RETRY_MS }
      }
      if (next.restMs !== undefined) {
        const mostMs = Math.min(LOOKS_EVERY_MS, timeToLateMail(current))
        await pause(Math.min(next.restMs, mostMs), wake.signal)
      }
    }
  }

  /** Runs the next step. */
  async function step(subscription: DeviceSubscription): Promise<Next> {
    const { progress, everySeconds } = subscription
    const heldMs = leases.heldFor(progress)
    if (heldMs > 0) return { restMs: heldMs }
    if (parts.isSuspended(key.accountId)) return { subscription, restMs: RETRY_MS }
    const { test } = progress
    if (test !== undefined && test.outcome === undefined) {
      return deliver(subscription, async (claimed) => testLoad(claimed, test.id))
    }
    if (progress.disabledAt !== undefined) {
      waitingSince = undefined
      return { subscription: await countWaiting(subscription), restMs: Infinity }
    }
    if (timeToLateMail(subscription) <= 0) return deliver(subscription, loadLate)
    const isAgain = progress.resend.length > 0
    const every = isAgain ? 0 : (progress.deliveredAt ?? 0) + everySeconds * 1_000
    const dueAt = Math.max(progress.attempt?.nextAt ?? 0, every)
    if (dueAt > now()) {
      const isCounted = progress.attempt !== undefined
      const counted = isCounted ? await countWaiting(subscription) : subscription
      return { subscription: counted, restMs: dueAt - now() }
    }
    return isAgain ? deliver(subscription, loadAgain) : deliverNext(subscription)
  }

  /** Takes a slot and the lease, and makes one request with whatever `load` finds then. */
  async function deliver(
    subscription: DeviceSubscription,
    load: (claimed: DeviceSubscription) => Promise<Load | undefined>,
  ): Promise<Next> {
    const isFailing = subscription.progress.failingSince !== undefined
    const end = await slots.take({ accountId: key.accountId, isFailing })
    try {
      if (stopping.aborted) return {}
      const claimed = await leases.take(subscription, () => parts.isSuspended(key.accountId))
      if (claimed === undefined) return {}
      const loaded = await load(claimed)
      if (loaded === undefined) return {}
      return { subscription: await attempt(claimed, loaded) }
    } finally {
      end()
    }
  }

  function testLoad({ progress: { mark } }: DeviceSubscription, id: string): Load {
    const told = [{ item: testItem(id, now()), deviceName: '' }]
    return { kind: 'test', told, markAfter: () => mark, end: true }
  }

  /**
   * The items that an operator wants to resend. Items that no longer exist are removed from the
   * list.
   */
  async function loadAgain(claimed: DeviceSubscription): Promise<Load | undefined> {
    const { mark, resend } = claimed.progress
    const ids = resend.slice(0, mostItems(claimed))
    const told = await items.readByIds(claimed, ids)
    if (told.length > 0) return { kind: 'again', told, markAfter: () => mark, end: false }
    const dropItems = (progress: SubscriptionProgress) => ({
      ...progress,
      resend: progress.resend.filter((id) => !ids.includes(id)),
    })
    await leases.write(key, dropItems, { keep: true })
    return undefined
  }

  /** Loads the oldest mail that some recipients' servers temporarily refused. */
  async function loadLate(claimed: DeviceSubscription): Promise<Load | undefined> {
    const mail = findOldestLate(claimed)
    const told = mail === undefined ? [] : await items.readByIds(claimed, mail.ids)
    const { mark } = claimed.progress
    if (mail !== undefined && told.length > 0) {
      return { kind: 'late', told, to: mail.to, markAfter: () => mark, end: false }
    }
    await leases.write(key, removeOldest, { keep: true })
    return undefined
  }

  /** How long until a late mail is tried again. */
  function timeToLateMail(subscription: DeviceSubscription | undefined): number {
    const { late, disabledAt } = subscription?.progress ?? {}
    return late === undefined || disabledAt !== undefined ? Infinity : late.nextAt - now()
  }

  /** Waits for the items after the mark, and sends them. */
  async function deliverNext(subscription: DeviceSubscription): Promise<Next> {
    const { progress, revision } = subscription
    if (cursor.from !== progress.mark || cursor.revision !== revision) {
      cursor = { from: progress.mark, revision, mark: progress.mark, savedAt: now(), leftOut: 0 }
    }
    const { mark } = cursor
    const page = await read(subscription, mark, Math.min(WAITS_MS, timeToLateMail(subscription)))
    if (stopping.aborted) return {}
    const [first] = page.told
    const isTold = progress.gapToldAt === mark
    const leftOut = isTold ? 0 : cursor.leftOut + page.leftOut
    const isMissing = page.gap && !isTold
    // Count all omitted items first.
    const isGap = isMissing || (leftOut > 0 && (first !== undefined || page.end))
    if (first === undefined && !isGap) {
      waitingSince = undefined
      cursor = { ...cursor, mark: page.mark, leftOut }
      return page.end ? saveCursor(subscription) : { subscription }
    }
    waitingSince = first?.item.since
    if (first !== undefined && subscription.target.kind === 'email') {
      const restMs = mailWaitMs(progress.mailedAt, first.item.since, now())
      if (restMs > 0) return { subscription, restMs }
    }
    const readAt = performance.now()
    return deliver(subscription, async (claimed) => {
      if (claimed.progress.mark !== progress.mark) return undefined
      if (isGap) {
        const gap = gapItem(mark, now(), { leftOut, isMissing })
        const told = [{ item: gap, deviceName: '' }]
        return { kind: 'gap', told, markAfter: () => mark, end: false }
      }
      const isFresh = performance.now() - readAt <= FRESH_MS
      const { told, markAfter, end } = isFresh ? page : await read(subscription, mark, 0)
      return told.length === 0 ? undefined : { kind: 'next', told, markAfter, end }
    })
  }

  function read(subscription: DeviceSubscription, mark: string, waitMs: number) {
    const limit = mostItems(subscription)
    return items.after(subscription, { mark, limit, waitMs, now, signal: wake.signal })
  }

  /** Saves the mark after unwanted entries, so that the next start does not read them again. */
  async function saveCursor(subscription: DeviceSubscription): Promise<Next> {
    const { from, mark, savedAt } = cursor
    const { waiting, backlogSince } = subscription.progress
    const isDue = waiting !== undefined || now() - savedAt >= SAVED_EVERY_MS
    if (backlogSince === undefined && (mark === from || !isDue)) return { subscription }
    cursor = { ...cursor, savedAt: now() }
    const saved = await store.changeProgress(key, (progress, revision) => {
      const isMoved = progress.mark !== from || leases.heldFor(progress) > 0
      if (isMoved || revision !== subscription.revision) return undefined
      return { ...markCaughtUp(omitWaiting(runWithoutLease(progress))), mark }
    })
    if (saved === 'refused' || saved === undefined) return {}
    cursor = { ...cursor, from: mark }
    return { subscription: { ...subscription, progress: saved.progress } }
  }

  /**
   * Counts the items waiting for a receiver that fails or is disabled, at most once a minute.
   * Returns the subscription, with the count unless another process has stored one.
   */
  async function countWaiting(subscription: DeviceSubscription): Promise<DeviceSubscription> {
    const { progress, revision } = subscription
    const isRecent = now() - countedAt < COUNTED_EVERY_MS
    if (isRecent && progress.waiting !== undefined) return subscription
    try {
      const waiting = await items.count(subscription, { now, signal: wake.signal })
      countedAt = now()
      if (waiting.count === 0 || waiting.mark === progress.waiting?.mark) return subscription
      const changed = await store.changeProgress(key, (stored, revisionNow) => {
        const isSame = revisionNow === revision && stored.mark === progress.mark
        const isCounted = stored.waiting?.mark !== progress.waiting?.mark
        return isSame && !isCounted ? { ...stored, waiting } : undefined
      })
      if (changed === 'refused' || changed === undefined) return subscription
      return { ...subscription, progress: changed.progress }
    } catch (error) {
      logger.warn({ err: error, subscriptionId: key.id }, 'could not count the waiting items')
      return subscription
    }
  }

  /** Resolves when the subscription has been deleted, or on `stopping`. */
  const done = run()
  return {
    done,

    /** Checks the subscription again, because it was changed, or the process stops. */
    notify: () => wake.abort(),

    /** The subscription as last read. */
    get current() {
      return current
    },

    /**
     * The time since which the oldest known item could have been sent; undefined if no item waits.
     */
    get waitingSince() {
      return waitingSince
    },
  }
}

export type Runner = ReturnType<typeof runSubscription>

async function pauseUnlessAborted(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal, ref: false }).catch(() => undefined)
}
