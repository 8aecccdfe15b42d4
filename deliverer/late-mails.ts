import type {
  DeviceSubscription,
  LateMail,
  SubscriptionProgress,
} from '../schemas/subscriptions/subscription.ts'
import { pauseAfter } from './retry-schedule.ts'

/** A recipient refused for this long does not get the mail. */
const LATE_FOR_MS = 24 * 3_600_000
/** Maximum number of items in late mails: beyond it, the oldest mails are dropped. */
const MOST_ITEMS = 1_000
const TOO_LATE = 'not tried again: the mail is too old'
const TOO_MANY = 'older mails to them are omitted'

type MailMade = {
  readonly now: number
  readonly random: number
  readonly ids: readonly string[]
  readonly retryAfterMs?: number | undefined
  readonly error?: string | undefined
  /** Recipients temporarily refused by the server, if any. */
  readonly late?: readonly string[] | undefined
}

/** Records a mail that some of its recipients have not received yet. */
export function addLateMail(
  progress: SubscriptionProgress,
  attempt: MailMade,
): SubscriptionProgress {
  const { late: to = [], ids, now } = attempt
  if (to.length === 0) return progress
  const { mails = [], failures = 1, nextAt = now + pauseAfter(1, attempt) } = progress.late ?? {}
  const all = [...mails, { to, ids, since: now }]
  const tooMany = all.findLastIndex((_, place) => countItems(all.slice(place)) > MOST_ITEMS)
  // The newest mail is tried, however large it is.
  const kept = all.slice(Math.min(tooMany + 1, all.length - 1))
  const lastError = `${progress.lastError}; ${TOO_MANY}`
  return {
    ...progress,
    ...(kept.length < all.length && { lastError }),
    late: { mails: kept, failures, nextAt },
  }
}

/** The progress after another attempt at the oldest late mail. */
export function afterLateMail(
  progress: SubscriptionProgress,
  attempt: MailMade,
): SubscriptionProgress {
  const { now, error, late: to } = attempt
  const [mail, ...others] = progress.late?.mails ?? []
  if (mail === undefined) return progress
  const isOver = error === undefined
  const isRefused = to !== undefined && to.length === 0
  const isTooLate = now - mail.since >= LATE_FOR_MS
  const rest = dropError(removeOldest(progress))
  if (isOver || isRefused || isTooLate) {
    const why = isTooLate && !isOver ? `${error}; ${TOO_LATE}` : error
    const lastError = why ?? (others.length > 0 ? progress.lastError : undefined)
    return lastError === undefined ? rest : { ...rest, lastError }
  }
  const failures = (progress.late?.failures ?? 0) + 1
  const mails = [{ ...mail, ...(to !== undefined && { to }) }, ...others]
  const late = { mails, failures, nextAt: now + pauseAfter(failures, attempt) }
  return { ...progress, ...(error !== undefined && { lastError: error }), late }
}

export function removeOldest({ late, ...progress }: SubscriptionProgress): SubscriptionProgress {
  const mails = late?.mails.slice(1) ?? []
  if (late === undefined || mails.length === 0) return progress
  return { ...progress, late: { ...late, mails, failures: 1 } }
}

/** Finds the oldest late mail, limited to recipients that the subscription still has. */
export function findOldestLate({
  target,
  progress,
}: Pick<DeviceSubscription, 'target' | 'progress'>): LateMail | undefined {
  const [mail] = progress.late?.mails ?? []
  if (mail === undefined || target.kind !== 'email') return undefined
  const to = mail.to.filter((address) => target.to.includes(address))
  return to.length === 0 ? undefined : { ...mail, to }
}

function dropError({
  lastError: _lastError,
  ...progress
}: SubscriptionProgress): SubscriptionProgress {
  return progress
}

function countItems(mails: readonly LateMail[]): number {
  return mails.reduce((count, { ids }) => count + ids.length, 0)
}
