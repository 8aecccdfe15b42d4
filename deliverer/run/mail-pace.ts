import type { SubscriptionProgress } from '../../schemas/subscriptions/subscription.ts'

const TOGETHER_MS = 60_000
const HOUR_MS = 3_600_000
const MOST_AN_HOUR = 20

/** How long to wait before a mail: what happens within a minute shares one, and an hour has 20 at most. */
export function mailWaitMs(
  mailedAt: readonly number[] = [],
  firstSince: number,
  now: number,
): number {
  const recent = mailedAt.filter((at) => now - at < HOUR_MS)
  const [oldest = now] = recent.slice(-MOST_AN_HOUR)
  const spareMs = recent.length < MOST_AN_HOUR ? 0 : oldest + HOUR_MS - now
  return Math.max(firstSince + TOGETHER_MS - now, spareMs)
}

/** The mails of the last hour, with one that was sent now. */
export function mailedIn({ mailedAt = [] }: SubscriptionProgress, now: number): readonly number[] {
  return [...mailedAt.filter((at) => now - at < HOUR_MS), now]
}
