import type { Clock } from '../../runtime/clock.ts'
import type { SealedSecrets } from '../../runtime/sealed-secrets.ts'
import type {
  DeliveryOutcome,
  DeviceSubscription,
  SubscriptionProgress,
  SubscriptionSecrets,
} from '../../schemas/subscription.ts'
import type { SubscriptionStore } from '../../store/subscriptions.ts'
import { afterAttempt, isSuccess, isTooMuch } from '../after-attempt.ts'
import { gapItem, type Item } from '../item.ts'
import type { Told } from '../render/told.ts'
import type { SendItems, Sent } from '../send/send-items.ts'
import type { RequestSlots } from '../slots.ts'
import { waitingCounter } from './count-waiting.ts'
import { mailWaitMs, mailedIn } from './mail-pace.ts'
import { withoutLease, type Leases } from './lease.ts'
import type { ItemReader } from './next-items.ts'
import type { Pause } from './pauses.ts'

const WAITS_MS = 20_000
const RETRY_MS = 1_000
const LOOKS_EVERY_MS = 60_000
/** A mark that has passed only unwanted entries is not worth more writes. */
const SAVED_EVERY_MS = 60_000
/** Items that were read longer ago are read again: one of their devices may have been erased. */
const FRESH_MS = 500
const MOST_IN_MAIL = 1_000

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

export type Runner = {
  /** Looks at the subscription again, because somebody has changed it, or the process stops. */
  notify(): void
  /** As it was last seen. */
  readonly current: DeviceSubscription | undefined
  /** Since when its oldest known item could have been sent; undefined: none waits. */
  readonly waitingSince: number | undefined
  /** Resolves when the subscription is gone, or on `stopping`. */
  readonly done: Promise<void>
}

/** Delivers for one subscription: one request at a time, in the order of its log. */
export function runSubscription(
  key: { readonly accountId: string; readonly id: string },
  parts: RunnerParts,
): Runner {
  const { store, items, leases, clock, stopping } = parts
  let current: DeviceSubscription | undefined
  let waitingSince: number | undefined
  let wake = new AbortController()
  let isStale = true
  /** Where it reads on: entries between the stored mark and this one are not wanted. */
  let cursor = { from: '', revision: 0, mark: '', savedAt: clock.now() }
  /** The most items in a request, after a receiver has found one too large. */
  let most = Infinity
  const waiting = waitingCounter(parts)

  async function run(): Promise<void> {
    while (!stopping.aborted) {
      try {
        if (!(await step())) return
      } catch (error) {
        if (stopping.aborted) return
        isStale = true
        parts.logger.warn({ err: error, subscriptionId: key.id }, 'deliveries are waiting')
        await rest(RETRY_MS)
      }
    }
  }

  /** Waits until something may have changed. */
  async function rest(ms: number): Promise<void> {
    await parts.pause(Math.min(ms, LOOKS_EVERY_MS), wake.signal)
  }

  async function step(): Promise<boolean> {
    if (wake.signal.aborted) wake = new AbortController()
    if (isStale || current === undefined) {
      isStale = false
      current = await store.findSubscription(key)
    }
    if (current === undefined) return false
    const subscription = current
    const { progress, everySeconds } = subscription
    const now = clock.now()
    const heldMs = leases.heldFor(progress)
    if (heldMs > 0) {
      isStale = true
      await rest(heldMs)
      return true
    }
    if (parts.isSuspended(key.accountId)) {
      await rest(RETRY_MS)
      return true
    }
    const { test } = progress
    if (test !== undefined && test.outcome === undefined) {
      await sendTest(subscription, test.id)
      return true
    }
    if (progress.disabledAt !== undefined) {
      waitingSince = undefined
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
    } else if (isAgain) await sendAgain(subscription)
    else await sendNext(subscription)
    return true
  }

  async function countWaiting(subscription: DeviceSubscription): Promise<void> {
    try {
      current = (await waiting.count(subscription, wake.signal)) ?? current
    } catch (error) {
      parts.logger.warn({ err: error, subscriptionId: key.id }, 'waiting items were not counted')
    }
  }

  async function sendNext(subscription: DeviceSubscription): Promise<void> {
    const { progress, revision } = subscription
    if (cursor.from !== progress.mark || cursor.revision !== revision) {
      cursor = { from: progress.mark, revision, mark: progress.mark, savedAt: clock.now() }
    }
    const read = (waitMs: number) =>
      items.after(subscription, {
        mark: cursor.mark,
        limit: mostItems(subscription),
        waitMs,
        now: () => clock.now(),
        signal: wake.signal,
      })
    let page = await read(WAITS_MS)
    if (stopping.aborted) return
    const isGap = page.gap && progress.gapToldAt !== cursor.mark
    const [first] = page.told
    if (first === undefined && !isGap) {
      waitingSince = undefined
      cursor.mark = page.mark
      if (page.end) await saveCursor()
      return
    }
    waitingSince = first?.item.since
    if (first !== undefined && subscription.target.kind === 'email') {
      const waitMs = mailWaitMs(progress.mailedAt, first.item.since, clock.now())
      if (waitMs > 0) return rest(waitMs)
    }
    const readAt = performance.now()
    await withTurn(subscription, async (claimed) => {
      if (claimed.progress.mark !== cursor.from || claimed.revision !== revision) return
      if (performance.now() - readAt > FRESH_MS) page = await read(0)
      const gap: Item = gapItem(cursor.mark, clock.now())
      const told = isGap ? [{ item: gap, deviceName: '' }] : page.told
      if (told.length === 0) return
      const markAfter = (count: number) => (isGap ? cursor.mark : page.markAfter(count))
      await attempt(claimed, {
        told,
        markAfter,
        moves: true,
        end: page.end && !isGap,
        keep: !page.end || isGap,
        ...(isGap && { gapToldAt: cursor.mark }),
      })
    })
  }

  async function sendAgain(subscription: DeviceSubscription): Promise<void> {
    await withTurn(subscription, async (claimed) => {
      const ids = claimed.progress.resend.slice(0, mostItems(claimed))
      const told = await items.byIds(claimed, ids)
      const kept = new Set(told.map(({ item }) => item.id))
      const gone = ids.filter((id) => !kept.has(id))
      if (gone.length > 0) {
        const without = ({ progress }: DeviceSubscription) => {
          return { ...progress, resend: progress.resend.filter((id) => !gone.includes(id)) }
        }
        if ((await leases.write(key, without, { keep: true })) === undefined) return
      }
      const { mark } = claimed.progress
      if (told.length === 0) return
      await attempt(claimed, { told, markAfter: () => mark, moves: false, keep: true })
    })
  }

  async function sendTest(subscription: DeviceSubscription, id: string): Promise<void> {
    await withTurn(subscription, async (claimed) => {
      const now = clock.now()
      const item: Item = { kind: 'test', id, at: now, since: now }
      const { mark } = claimed.progress
      const told = [{ item, deviceName: '' }]
      const sent = await sendKept(claimed, { told, markAfter: () => mark })
      const outcome = outcomeOf(sent.answer)
      const write = (progress: SubscriptionProgress): SubscriptionProgress => ({
        ...progress,
        deliveries: progress.deliveries + 1,
        ...(progress.test?.id === id && { test: { id, outcome } }),
      })
      await finish(claimed, { write, keep: false, at: now, ids: [id], attempt: 1, outcome })
    })
  }

  /** Takes a slot and the lease, and gives the lease back unless the work has done so. */
  async function withTurn(
    subscription: DeviceSubscription,
    work: (claimed: DeviceSubscription) => Promise<void>,
  ): Promise<void> {
    const isFailing = subscription.progress.failingSince !== undefined
    const end = await parts.slots.take({ accountId: key.accountId, isFailing })
    try {
      if (stopping.aborted) return
      const claimed = await leases.take(key, () => parts.isSuspended(key.accountId))
      isStale = true
      if (claimed === undefined) return
      current = claimed
      await work(claimed)
    } finally {
      end()
    }
  }

  async function attempt(
    claimed: DeviceSubscription,
    {
      told,
      markAfter,
      moves,
      end = false,
      keep,
      gapToldAt,
    }: {
      readonly told: readonly Told[]
      readonly markAfter: (count: number) => string
      readonly moves: boolean
      readonly end?: boolean
      readonly keep: boolean
      readonly gapToldAt?: string
    },
  ): Promise<void> {
    const begunAt = clock.now()
    const { answer, count } = await sendKept(claimed, { told, markAfter })
    const ids = told.slice(0, count).map(({ item }) => item.id)
    const { status, failure: error, retryAfterMs } = answer
    const now = clock.now()
    const isDone = isSuccess(status)
    most = isTooMuch({ status, ids }) ? Math.floor(count / 2) : isDone ? most * 2 : most
    const made = {
      begunAt,
      now,
      random: parts.random(),
      status,
      error,
      retryAfterMs,
      ids,
      at: told[0]?.item.at ?? now,
      ...(moves && {
        moves: {
          from: claimed.progress.mark,
          to: markAfter(count),
          end: end && count === told.length,
        },
      }),
    }
    const write = (progress: SubscriptionProgress, isSame: boolean): SubscriptionProgress => {
      // The failure of a target that has been replaced is not the new one's.
      if (!isSame && !isDone) return { ...progress, deliveries: progress.deliveries + 1 }
      const next = afterAttempt(progress, made)
      return {
        ...next,
        ...(isDone && gapToldAt !== undefined && { gapToldAt }),
        ...(claimed.target.kind === 'email' && isDone && { mailedAt: mailedIn(progress, now) }),
      }
    }
    const number = (claimed.progress.attempt?.failures ?? 0) + 1
    await finish(claimed, {
      write,
      at: begunAt,
      ids,
      attempt: number,
      keep: keep && isDone,
      outcome: outcomeOf(answer),
    })
  }

  async function sendKept(
    claimed: DeviceSubscription,
    sending: { readonly told: readonly Told[]; readonly markAfter: (count: number) => string },
  ): Promise<Sent> {
    const opened = parts.secrets.open(claimed.sealed, claimed.id)
    const secrets = JSON.parse(opened) as SubscriptionSecrets
    const letGo = leases.keep(key)
    try {
      return await parts.send({
        subscription: claimed,
        secrets,
        now: clock.now(),
        ...sending,
      })
    } finally {
      letGo()
    }
  }

  /** Writes what became of a request. If the lease was lost meanwhile, its items are sent again. */
  async function finish(
    claimed: DeviceSubscription,
    {
      write,
      keep,
      at,
      ids,
      attempt,
      outcome,
    }: {
      readonly write: (progress: SubscriptionProgress, isSame: boolean) => SubscriptionProgress
      readonly keep: boolean
      readonly at: number
      readonly ids: readonly string[]
      readonly attempt: number
      readonly outcome: DeliveryOutcome
    },
  ): Promise<void> {
    const written = await leases.write(
      key,
      ({ progress, revision }) => write(progress, revision === claimed.revision),
      { keep },
    )
    if (written === undefined) return
    current = written
    isStale = false
    const { accountId, id: subscriptionId } = key
    const number = written.progress.deliveries
    await store
      .saveDelivery({ accountId, subscriptionId, number, at, ids, attempt, ...outcome })
      .catch((error: unknown) => {
        parts.logger.warn({ err: error, subscriptionId }, 'a delivery could not be listed')
      })
    const isDone = isSuccess(outcome.status)
    const isFailure = written.progress.failingSince !== undefined
    parts.onAttempt({
      subscription: written,
      outcome: isDone ? 'delivered' : isFailure ? 'failed' : 'refused',
      before: claimed.progress,
    })
  }

  /** Saves how far nothing was wanted, so that the next start does not read it again. */
  async function saveCursor(): Promise<void> {
    const { from, mark, savedAt } = cursor
    const isCounted = current?.progress.waiting !== undefined
    if (mark === from || (!isCounted && clock.now() - savedAt < SAVED_EVERY_MS)) return
    cursor.savedAt = clock.now()
    const saved = await store.changeSubscription(key, ({ progress, ...stored }) => {
      const isMoved = progress.mark !== from || leases.heldFor(progress) > 0
      if (isMoved) return undefined
      const { waiting: _waiting, ...rest } = withoutLease(progress)
      return { ...stored, progress: { ...rest, mark } }
    })
    if (saved === 'refused' || saved === undefined) isStale = true
    else {
      current = saved
      cursor.from = mark
    }
  }

  function mostItems({ target }: DeviceSubscription): number {
    if (target.kind === 'email') return MOST_IN_MAIL
    const batch = target.kind === 'webhook' ? (target.batch ?? 1) : 1
    return Math.max(1, Math.min(batch, most))
  }

  const done = run()
  return {
    notify() {
      isStale = true
      wake.abort()
    },
    get current() {
      return current
    },
    get waitingSince() {
      return waitingSince
    },
    done,
  }
}

function outcomeOf({ status, failure, milliseconds, text }: Sent['answer']): DeliveryOutcome {
  return {
    ...(status !== undefined && { status }),
    ...(failure !== undefined && { error: failure }),
    milliseconds,
    answer: text,
  }
}
