import {
  markCaughtUp,
  markHealthy,
  type DeliveryOutcome,
  type DeviceSubscription,
  type SubscriptionProgress,
} from '../schemas/subscriptions/subscription.ts'
import { afterLateMail, addLateMail } from './late-mails.ts'
import { pauseAfter } from './retry-schedule.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DISABLED_AFTER_MS = 72 * HOUR_MS
/** Operators get a warning each time a receiver has been failing for this long. */
const WARNED_AFTER_MS = [HOUR_MS, 24 * HOUR_MS]
const TRIES_OF_AN_ITEM = 3
/** From this many refused items in a row on, the receiver counts as failing. */
const MOST_SET_ASIDE_IN_A_ROW = 100
const MOST_SHOWN = 100
const MOST_MAILS_AN_HOUR = 20

const GONE = 410
/** The receiver rejects this request, not any request. A chat mostly rejects any. */
const REFUSALS = [400, 413, 422]
const CHAT_REFUSALS = [400, 413]

export type AttemptMade = {
  readonly begunAt: number
  readonly now: number
  /** From 0 to 1. */
  readonly random: number
  readonly status?: number | undefined
  /** The reason for a failure; absent after a success. */
  readonly error?: string | undefined
  readonly retryAfterMs?: number | undefined
  /** The ids of the items that were sent. */
  readonly ids: readonly string[]
  /** When the item happened, if there is only one. */
  readonly at: number
  /** The mark that the items followed, and the mark after them. Absent for items sent again. */
  readonly moves?: {
    readonly from: string
    readonly to: string
    /** Whether no other item waits. */
    readonly end?: boolean
    /** Whether the only item says that entries before the mark are missing. */
    readonly isGap?: boolean
  }
  /** The outcome of a test, which changes nothing else. */
  readonly test?: DeliveryOutcome
  /** A warning for operators although the delivery succeeded. */
  readonly notice?: string | undefined
  readonly isMail?: boolean
  /** The mail's recipients temporarily refused by the server. */
  readonly late?: readonly string[] | undefined
  /**
   * Whether the receiver is a chat; `takesTests`: it accepted a test just after rejecting the item.
   */
  readonly isChat?: boolean
  readonly takesTests?: boolean | undefined
  /** Whether it was the oldest of the late mails. */
  readonly isLate?: boolean
  /** Whether operators have changed the subscription in the meantime. */
  readonly isReplaced?: boolean
}

export type AttemptReport = {
  readonly subscription: DeviceSubscription
  readonly outcome: 'delivered' | 'failed' | 'refused'
  /** The subscription's previous progress. */
  readonly before: SubscriptionProgress
}

export function isSuccess(status: number | undefined): boolean {
  return status !== undefined && status >= 200 && status < 300
}

/** Whether to try again with half of the items. */
export function isTooMuch({ status, ids }: Pick<AttemptMade, 'status' | 'ids'>): boolean {
  return status !== undefined && REFUSALS.includes(status) && ids.length > 1
}

/**
 * Maximum number of items in the next request: halved if the last one was too large, doubled after
 * each success.
 */
export function limitAfter(most: number, attempt: AttemptMade): number {
  if (isTooMuch(attempt)) return Math.floor(attempt.ids.length / 2)
  return isSuccess(attempt.status) ? most * 2 : most
}

/** The progress of a subscription after an attempt. */
export function afterAttempt(
  before: SubscriptionProgress,
  attempt: AttemptMade,
): SubscriptionProgress {
  const { status, ids, test, notice, isReplaced } = attempt
  const counted = { ...before, deliveries: before.deliveries + 1 }
  if (test !== undefined) {
    const id = before.test?.id ?? ''
    return ids.includes(id) ? { ...counted, test: { id, outcome: test } } : counted
  }
  // A replaced target's failure does not count against the new target.
  if (isReplaced === true && !isSuccess(status)) return counted
  if (attempt.isLate === true) {
    return afterLateMail({ ...counted, ...addMailTime(counted, attempt) }, attempt)
  }
  const delivered = { ...counted, deliveredAt: attempt.begunAt }
  const after = dropNotice(afterItems(delivered, attempt))
  return notice === undefined ? after : { ...after, notice }
}

function afterItems(counted: SubscriptionProgress, attempt: AttemptMade): SubscriptionProgress {
  const { setAsideInARow, attempt: before } = counted
  if (isSuccess(attempt.status)) return succeeded(counted, attempt)
  if (isTooMuch(attempt)) return counted
  const { status, isChat } = attempt
  const isRefusal = status !== undefined && (isChat ? CHAT_REFUSALS : REFUSALS).includes(status)
  if (!isRefusal) return recordFailure(counted, attempt)
  const [refusedId = ''] = attempt.ids
  const refusals = refusalsOf(before, refusedId) + 1
  if (attempt.takesTests === true) return setAside(markHealthy(counted), attempt)
  if (isChat === true) {
    const after = recordFailure(counted, attempt)
    return { ...after, attempt: { ...after.attempt!, refusals, refusedId } }
  }
  const isOver = refusals >= TRIES_OF_AN_ITEM
  const left = isOver ? setAside(counted, attempt) : counted
  if (setAsideInARow >= MOST_SET_ASIDE_IN_A_ROW) {
    // The next item shows whether the receiver works again.
    const after = recordFailure(left, attempt)
    return isOver ? after : { ...after, attempt: { ...after.attempt!, refusals, refusedId } }
  }
  if (isOver) return dropAttempt(left)
  const nextAt = attempt.now + pauseAfter(refusals, attempt)
  const failures = before?.failures ?? 0
  return { ...counted, attempt: { failures, refusals, refusedId, nextAt } }
}

function refusalsOf(attempt: SubscriptionProgress['attempt'], id: string): number {
  return attempt?.refusedId === id ? attempt.refusals : 0
}

/** Whether a test must show if a chat rejects only this item, or everything. */
export function needsTest(
  { attempt }: SubscriptionProgress,
  { status, ids: [id = ''] }: Pick<AttemptMade, 'status' | 'ids'>,
): boolean {
  const isRefusal = status !== undefined && CHAT_REFUSALS.includes(status)
  return isRefusal && refusalsOf(attempt, id) + 1 >= TRIES_OF_AN_ITEM
}

function succeeded(progress: SubscriptionProgress, attempt: AttemptMade): SubscriptionProgress {
  const { now, ids, moves, error } = attempt
  const lastError = error ?? (progress.late === undefined ? undefined : progress.lastError)
  const after = {
    ...recordSuccess(markHealthy(progress), attempt),
    setAside: progress.setAside.filter(({ id }) => !ids.includes(id)),
    succeededAt: now,
    ...(moves?.isGap === true && { gapToldAt: moves.to }),
    ...(lastError !== undefined && { lastError }),
    ...addMailTime(progress, attempt),
  }
  return addLateMail(moves?.end === true ? markCaughtUp(after) : after, attempt)
}

function addMailTime(progress: SubscriptionProgress, { now, isMail, status }: AttemptMade) {
  if (isMail !== true || !isSuccess(status)) return {}
  return { mailedAt: [...keepLastHour(progress.mailedAt, now), now] }
}

/**
 * Marks the items as sent. If an operator has moved the mark in the meantime, the operator's mark
 * counts.
 */
function recordSuccess(
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

function recordFailure(
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
    ...recordSuccess(progress, attempt),
    setAside: [...others, ...aside].slice(-MOST_SHOWN),
    setAsideInARow: progress.setAsideInARow + 1,
  }
}

function dropNotice({ notice: _notice, ...progress }: SubscriptionProgress): SubscriptionProgress {
  return progress
}

function dropAttempt({
  attempt: _attempt,
  ...progress
}: SubscriptionProgress): SubscriptionProgress {
  return progress
}

/**
 * How long to wait before a mail: events within a minute share one, and at most 20 are sent per
 * hour.
 */
export function mailWaitMs(
  mailedAt: readonly number[] | undefined,
  firstSince: number,
  now: number,
): number {
  const recent = keepLastHour(mailedAt, now)
  const [oldest = now] = recent.slice(-MOST_MAILS_AN_HOUR)
  const spareMs = recent.length < MOST_MAILS_AN_HOUR ? 0 : oldest + HOUR_MS - now
  return Math.max(firstSince + MINUTE_MS - now, spareMs)
}

function keepLastHour(mailedAt: readonly number[] = [], now: number): readonly number[] {
  return mailedAt.filter((at) => now - at < HOUR_MS)
}
