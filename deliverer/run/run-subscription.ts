import type { DeviceSubscription } from '../../schemas/subscriptions/subscription.ts'
import { waitingCounter } from './count-waiting.ts'
import type { RunnerParts, RunnerState, SubscriptionKey } from './runner-state.ts'
import { nextSender } from './send-next.ts'
import { askedSender } from './send-asked.ts'
import { requester } from './request.ts'

const RETRY_MS = 1_000
const LOOKS_EVERY_MS = 60_000

export type Runner = {
  /** Looks at the subscription again, because somebody has changed it, or the process stops. */
  notify(): void
  /** As it was last seen. */
  readonly current: DeviceSubscription | undefined
  /** Since when its oldest known item could have been sent; undefined: none waits. */
  readonly waitingSince: number | undefined
  /** Resolves when the subscription has been deleted, or on `stopping`. */
  readonly done: Promise<void>
}

/** Delivers for one subscription: one request at a time, in the order of its log. */
export function runSubscription(key: SubscriptionKey, parts: RunnerParts): Runner {
  const { store, leases, clock, stopping } = parts
  const state: RunnerState = {
    current: undefined,
    isStale: true,
    isChanged: false,
    waitingSince: undefined,
    wake: new AbortController(),
  }
  const requests = requester(key, parts, state)
  const asked = askedSender(key, parts, requests)
  const next = nextSender(key, parts, { state, requests, rest })
  const waiting = waitingCounter(parts)

  async function run(): Promise<void> {
    while (!stopping.aborted) {
      try {
        if (!(await step())) return
      } catch (error) {
        if (stopping.aborted) return
        state.isStale = true
        parts.logger.warn({ err: error, subscriptionId: key.id }, 'deliveries are waiting')
        await rest(RETRY_MS)
      }
    }
  }

  /** Waits until something may have changed. */
  async function rest(ms: number): Promise<void> {
    await parts.pause(Math.min(ms, LOOKS_EVERY_MS), state.wake.signal)
  }

  async function step(): Promise<boolean> {
    if (state.wake.signal.aborted) state.wake = new AbortController()
    if (state.isStale || state.isChanged || state.current === undefined) {
      state.isStale = false
      state.isChanged = false
      state.current = await store.findSubscription(key)
    }
    const { current: subscription } = state
    if (subscription === undefined) return false
    const { progress, everySeconds } = subscription
    const now = clock.now()
    const heldMs = leases.heldFor(progress)
    if (heldMs > 0) {
      state.isStale = true
      await rest(heldMs)
      return true
    }
    if (parts.isSuspended(key.accountId)) {
      await rest(RETRY_MS)
      return true
    }
    const { test } = progress
    if (test !== undefined && test.outcome === undefined) {
      await asked.sendTest(subscription, test.id)
      return true
    }
    if (progress.disabledAt !== undefined) {
      state.waitingSince = undefined
      await countWaiting(subscription)
      await rest(Infinity)
      return true
    }
    const isAgain = progress.resend.length > 0
    const every = isAgain ? 0 : (progress.deliveredAt ?? 0) + everySeconds * 1_000
    const waitMs = Math.max(progress.attempt?.nextAt ?? 0, every) - now
    if (waitMs > 0) {
      if (progress.attempt !== undefined) await countWaiting(subscription)
      await rest(waitMs - (clock.now() - now))
    } else if (isAgain) await asked.sendAgain(subscription)
    else await next.sendNext(subscription)
    return true
  }

  async function countWaiting(subscription: DeviceSubscription): Promise<void> {
    try {
      const counted = await waiting.count(subscription, state.wake.signal)
      if (counted !== undefined) state.current = counted
    } catch (error) {
      parts.logger.warn({ err: error, subscriptionId: key.id }, 'waiting items were not counted')
    }
  }

  const done = run()
  return {
    notify() {
      state.isChanged = true
      state.wake.abort()
    },
    get current() {
      return state.current
    },
    get waitingSince() {
      return state.waitingSince
    },
    done,
  }
}
