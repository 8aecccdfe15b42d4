import { healthy, type SubscriptionProgress } from '../schemas/subscriptions/subscription.ts'
import { pauseAfter } from './retry-schedule.ts'

const HOUR_MS = 3_600_000
const DISABLED_AFTER_MS = 72 * HOUR_MS
/** A receiver that has been failing for this long: a warning each. */
const WARNED_AFTER_MS = [HOUR_MS, 24 * HOUR_MS]
const TRIES_OF_AN_ITEM = 3
/** From this many refused items in a row on, the receiver counts as failing. */
const MOST_SET_ASIDE_IN_A_ROW = 100
const MOST_SHOWN = 100

const GONE = 410
/** The receiver does not want this request, rather than any. */
const REFUSALS = [400, 413, 422]

export type AttemptMade = {
  readonly begunAt: number
  readonly now: number
  /** From 0 to 1. */
  readonly random: number
  readonly status?: number | undefined
  /** Why it failed; absent: it succeeded. */
  readonly error?: string | undefined
  readonly retryAfterMs?: number | undefined
  /** The ids of the items that were sent. */
  readonly ids: readonly string[]
  /** When the item happened, if it is one. */
  readonly at: number
  /** The mark that the items followed, and the one after them. Absent: items to send again. */
  readonly moves?: {
    readonly from: string
    readonly to: string
    /** Whether no other item waits. */
    readonly end?: boolean
  }
}

export function isSuccess(status: number | undefined): boolean {
  return status !== undefined && status >= 200 && status < 300
}

/** Whether to try again with half of the items. */
export function isTooMuch({ status, ids }: Pick<AttemptMade, 'status' | 'ids'>): boolean {
  return status !== undefined && REFUSALS.includes(status) && ids.length > 1
}

/** The progress of a subscription after an attempt. */
export function afterAttempt(
  progress: SubscriptionProgress,
  attempt: AttemptMade,
): SubscriptionProgress {
  const { deliveries, setAsideInARow } = progress
  const counted = { ...progress, deliveries: deliveries + 1, deliveredAt: attempt.begunAt }
  if (isSuccess(attempt.status)) return succeeded(counted, attempt)
  if (isTooMuch(attempt)) return counted
  const { status } = attempt
  if (status === undefined || !REFUSALS.includes(status)) return failed(counted, attempt)
  const before = progress.attempt
  const [refusedId = ''] = attempt.ids
  const refusals = before?.refusedId === refusedId ? before.refusals + 1 : 1
  const isOver = refusals >= TRIES_OF_AN_ITEM
  const left = isOver ? setAside(counted, attempt) : counted
  if (setAsideInARow >= MOST_SET_ASIDE_IN_A_ROW) {
    // The next item finds out whether the receiver has been mended.
    const after = failed(left, attempt)
    return isOver ? after : { ...after, attempt: { ...after.attempt!, refusals, refusedId } }
  }
  if (isOver) return withoutAttempt(left)
  const nextAt = attempt.now + pauseAfter(refusals, attempt)
  const failures = before?.failures ?? 0
  return { ...counted, attempt: { failures, refusals, refusedId, nextAt } }
}

function succeeded(progress: SubscriptionProgress, attempt: AttemptMade): SubscriptionProgress {
  return {
    ...passed(healthy(progress), attempt),
    setAside: progress.setAside.filter(({ id }) => !attempt.ids.includes(id)),
    succeededAt: attempt.now,
  }
}

/** The items are done. An operator may have moved the mark meanwhile: then theirs counts. */
function passed(
  { resend, ...progress }: SubscriptionProgress,
  { ids, moves }: AttemptMade,
): SubscriptionProgress {
  if (moves === undefined) return { ...progress, resend: resend.filter((id) => !ids.includes(id)) }
  if (progress.mark !== moves.from) return { ...progress, resend }
  const { waiting, ...rest } = progress
  const count = waiting === undefined || moves.end === true ? 0 : waiting.count - ids.length
  return {
    ...rest,
    resend,
    mark: moves.to,
    ...(waiting !== undefined && count > 0 && { waiting: { ...waiting, count } }),
  }
}

function failed(
  progress: SubscriptionProgress,
  { now, random, status, error = `status ${status}`, retryAfterMs }: AttemptMade,
): SubscriptionProgress {
  const failures = (progress.attempt?.failures ?? 0) + 1
  const failingSince = progress.failingSince ?? now
  const failingMs = now - failingSince
  const isOver = status === GONE || failingMs >= DISABLED_AFTER_MS
  const nextAt = now + pauseAfter(failures, { retryAfterMs, random })
  return {
    ...progress,
    failingSince,
    lastError: error,
    warned: WARNED_AFTER_MS.filter((ms) => failingMs >= ms).length,
    attempt: { ...progress.attempt, failures, refusals: progress.attempt?.refusals ?? 0, nextAt },
    ...(isOver && { disabledAt: now }),
  }
}

function setAside(progress: SubscriptionProgress, attempt: AttemptMade): SubscriptionProgress {
  const { at, status = 0 } = attempt
  const aside = attempt.ids.map((id) => ({ id, at, status }))
  const others = progress.setAside.filter(({ id }) => !attempt.ids.includes(id))
  return {
    ...passed(progress, attempt),
    setAside: [...others, ...aside].slice(-MOST_SHOWN),
    setAsideInARow: progress.setAsideInARow + 1,
  }
}

function withoutAttempt({
  attempt: _attempt,
  ...progress
}: SubscriptionProgress): SubscriptionProgress {
  return progress
}
