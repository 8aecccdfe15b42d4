import { LRUCache } from 'lru-cache'
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'
import type { RateLimit } from './config/config.ts'

/** How many counters are kept of a kind; the oldest are dropped first. */
const KEPT = 100_000

/** The points counted in a window, and how long until it ends. */
export type Count = Pick<RateLimiterRes, 'consumedPoints' | 'msBeforeNext'>

/** Counters by name. A counter's window begins with its first points and lasts `seconds`. */
export type RateCounters = {
  add(name: string, points: number): Promise<Count>
  /** Undefined outside a window. */
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

/** Counters in the memory of this process, at most `kept`. */
export function memoryRateCounters({
  seconds,
  kept = KEPT,
}: {
  seconds: number
  kept?: number
}): RateCounters {
  const limiter = new RateLimiterMemory({
    points: Number.MAX_SAFE_INTEGER,
    duration: seconds,
    keyPrefix: '',
  })
  const begun = new LRUCache<string, true>({
    max: kept,
    dispose: (_, name, reason) => {
      if (reason === 'evict') limiter.delete(name).catch(() => undefined)
    },
  })
  return {
    async add(name, points) {
      const count = await limiter.consume(name, points)
      // Once per window, so they are in the order in which their windows began.
      if (count.isFirstInDuration) begun.set(name, true)
      return count
    },
    async get(name) {
      const count = await limiter.get(name)
      return count !== null && count.msBeforeNext > 0 ? count : undefined
    },
  }
}
