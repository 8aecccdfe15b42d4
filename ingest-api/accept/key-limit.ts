import { RateLimiterMemory } from 'rate-limiter-flexible'
import type { RateLimit } from '../../runtime/config/config.ts'
import type { ApiKey } from '../../store/back-office.ts'

/** A key's own limit is so many positions in this time. */
const OWN_WINDOW_SECONDS = 60

/** What a key's limit is and how much of it is left; beyond it by `over` positions. */
export type Allowance = RateLimit & {
  readonly left: number
  readonly over: number
  readonly resetSeconds: number
}

/**
 * Counts the positions that keys report, in this process, against each key's own limit, where it has
 * one, else against `limit`. Positions beyond the limit are counted too.
 */
export class KeyLimit {
  readonly #limit: RateLimit | 'off'
  readonly #counters = new Map<number, RateLimiterMemory>()

  constructor({ limit }: { limit: RateLimit | 'off' }) {
    this.#limit = limit
  }

  /** Takes so many positions off what the key may report; undefined where nothing limits it. */
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
    // The counter's end is a time of the wall clock, which may have been set back.
    const resetSeconds = Math.min(seconds, Math.max(1, Math.ceil(msBeforeNext / 1000)))
    return { points, seconds, left: Math.max(0, points - consumedPoints), over, resetSeconds }
  }

  /** The limits differ from key to key and may change, so the counters only count. */
  #counterOf(seconds: number): RateLimiterMemory {
    let counter = this.#counters.get(seconds)
    if (counter === undefined) {
      counter = new RateLimiterMemory({ points: Number.MAX_SAFE_INTEGER, duration: seconds })
      this.#counters.set(seconds, counter)
    }
    return counter
  }
}

/** What the sender is told who has reported too much. */
export function beyondLimit({ points, seconds, resetSeconds }: Allowance): string {
  return `this API key may report ${points} positions in ${seconds} s: send it again in ${resetSeconds} s`
}
