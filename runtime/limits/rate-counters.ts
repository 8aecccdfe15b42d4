import { LRUCache } from 'lru-cache'
import type { RateLimiterRes } from 'rate-limiter-flexible'

/** Maximum number of counters per kind; the oldest are dropped first. */
const KEPT = 100_000

export type RateLimit = { readonly points: number; readonly seconds: number }

/** The points counted in a window, and the time until it ends. */
export type Count = Pick<RateLimiterRes, 'consumedPoints' | 'msBeforeNext'>

/** Counters by name. A counter's window starts with its first points and lasts `seconds`. */
export type RateCounters = {
  add(name: string, points: number): Promise<Count>
  /** Returns a counter; undefined outside a window. */
  get(name: string): Promise<Count | undefined>
}

/** Opens the counters of one kind; the same kind and seconds always mean the same counters. */
export type OpenRateCounters = (options: {
  readonly kind: string
  readonly seconds: number
}) => RateCounters

/** A limit with the counters of its window. */
export type CountedLimit = RateLimit & { readonly counters: RateCounters }

/** Undefined if the limit is off. */
export function countedLimit(
  limit: RateLimit | 'off',
  { kind, openCounters }: { kind: string; openCounters: OpenRateCounters },
): CountedLimit | undefined {
  if (limit === 'off') return undefined
  return { ...limit, counters: openCounters({ kind, seconds: limit.seconds }) }
}

/**
 * The whole seconds until a limit resets. Shared counters use a wall clock, which may have been set
 * back.
 */
export function secondsLeft({ msBeforeNext }: Count, { seconds }: RateLimit): number {
  return Math.min(seconds, Math.max(1, Math.ceil(msBeforeNext / 1000)))
}

/**
 * Counters in the memory of this process, at most `kept`: counters whose windows started first are
 * dropped.
 */
export function memoryRateCounters({
  seconds,
  kept = KEPT,
}: {
  seconds: number
  kept?: number
}): RateCounters & { remove(name: string): void } {
  // With `max` the cache would allocate 2.8 MB on creation, and a process creates a dozen.
  const windows = new LRUCache<string, Window>({ maxSize: kept, sizeCalculation: () => 1 })

  /** Keeps the counters in the order in which their windows started. */
  function current(name: string, now: number): Window | undefined {
    const window = windows.peek(name)
    return window !== undefined && window.endsAt > now ? window : undefined
  }

  function begin(name: string, now: number): Window {
    const window = { points: 0, endsAt: now + seconds * 1000 }
    windows.set(name, window)
    return window
  }

  return {
    async add(name, points) {
      const now = performance.now()
      const window = current(name, now) ?? begin(name, now)
      window.points += points
      return countOf(window, now)
    },
    async get(name) {
      const now = performance.now()
      const window = current(name, now)
      return window && countOf(window, now)
    },
    remove(name) {
      windows.delete(name)
    },
  }
}

/** `endsAt` on the monotonic clock, in milliseconds. */
type Window = { points: number; readonly endsAt: number }

function countOf({ points, endsAt }: Window, now: number): Count {
  return { consumedPoints: points, msBeforeNext: endsAt - now }
}
