import type { RateLimit } from '../../runtime/config/config.ts'
import type { OpenRateCounters, RateCounters } from '../../runtime/rate-counters.ts'
import type { ApiKey } from '../../store/back-office.ts'
import { allowance, type Allowance } from './allowance.ts'

/** The window of a key's own limit. */
const OWN_WINDOW_SECONDS = 60

/** What is left for a key, and how many positions (`over`) exceeded its limit. */
export type KeyAllowance = Allowance & { readonly over: number }

/**
 * Counts each key's positions against the key's own limit, or else `limit`. Positions beyond the
 * limit count too.
 */
export class KeyLimit {
  readonly #limit: RateLimit | 'off'
  readonly #openCounters: OpenRateCounters
  /** Limits differ from key to key and may change, so counters have none, only a window. */
  readonly #counters = new Map<number, RateCounters>()

  constructor({
    limit,
    openCounters,
  }: {
    limit: RateLimit | 'off'
    openCounters: OpenRateCounters
  }) {
    this.#limit = limit
    this.#openCounters = openCounters
  }

  /** Counts positions against the key's limit; undefined if the key has none. */
  async take(
    { id, rateLimit: own }: Pick<ApiKey, 'id' | 'rateLimit'>,
    positions: number,
  ): Promise<KeyAllowance | undefined> {
    const limit = own === undefined ? this.#limit : { points: own, seconds: OWN_WINDOW_SECONDS }
    if (limit === 'off') return undefined
    const count = await this.#countersOf(limit.seconds).add(id, positions)
    const over = Math.min(positions, Math.max(0, count.consumedPoints - limit.points))
    return { ...allowance('key', limit, count), over }
  }

  #countersOf(seconds: number): RateCounters {
    let counters = this.#counters.get(seconds)
    if (counters === undefined) {
      counters = this.#openCounters({ kind: 'key', seconds })
      this.#counters.set(seconds, counters)
    }
    return counters
  }
}

/** The message of a 429. */
export function beyondKeyLimit({ points, seconds, resetSeconds }: Allowance): string {
  return `this API key may report ${points} positions in ${seconds} s: send it again in ${resetSeconds} s`
}
