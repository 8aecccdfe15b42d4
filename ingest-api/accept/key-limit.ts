import { RateLimiterMemory } from 'rate-limiter-flexible'
import type { RateLimit } from '../../runtime/config/config.ts'
import type { ApiKey } from '../../store/back-office.ts'

/** The window of a key's own limit. */
const OWN_WINDOW_SECONDS = 60

/** A key's limit, the positions left of it, and how many (`over`) exceeded it. */
export type Allowance = RateLimit & {
  readonly left: number
  readonly over: number
  readonly resetSeconds: number
}

/**
 * Counts each key's positions in this process against the key's own limit, or else `limit`.
 * Positions beyond the limit count too.
 */
export class KeyLimit {
  readonly #limit: RateLimit | 'off'
  readonly #counters = new Map<number, RateLimiterMemory>()

  constructor({ limit }: { limit: RateLimit | 'off' }) {
    this.#limit = limit
  }

  /** Counts positions against the key's limit; undefined if the key has none. */
  async take(
    { id, rateLimit: own }: Pick<ApiKey, 'id' | 'rateLimit'>,
    positions: number,
  ): Promise<Allowance | undefined> {
    const inForce = own === undefined ? this.#limit : { points: own, seconds: OWN_WINDOW_SECONDS }
    if (inForce === 'off') return undefined
    const { points, seconds } = inForce
    const counter = this.#counterOf(seconds)
    const { consumedPoints, msBeforeNext } = await counter.consume(id, positions)
    const over = Math.min(positions, Math.max(0, consumedPoints - points))
    // The counter uses the wall clock, which may have been set back.
    const resetSeconds = Math.min(seconds, Math.max(1, Math.ceil(msBeforeNext / 1000)))
    return { points, seconds, left: Math.max(0, points - consumedPoints), over, resetSeconds }
  }

  /** Limits differ from key to key and may change, so the counters have none of their own. */
  #counterOf(seconds: number): RateLimiterMemory {
    let counter = this.#counters.get(seconds)
    if (counter === undefined) {
      counter = new RateLimiterMemory({ points: Number.MAX_SAFE_INTEGER, duration: seconds })
      this.#counters.set(seconds, counter)
    }
    return counter
  }
}

/** The message of a 429. */
export function beyondLimit({ points, seconds, resetSeconds }: Allowance): string {
  return `this API key may report ${points} positions in ${seconds} s: send it again in ${resetSeconds} s`
}
