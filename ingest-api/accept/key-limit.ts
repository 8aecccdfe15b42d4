import { LRUCache } from 'lru-cache'
import type { RateLimit } from '../../runtime/config/config.ts'
import type { OpenRateCounters, RateCounters } from '../../runtime/rate-counters.ts'
import type { ApiKey } from '../../store/back-office.ts'
import { allowance, type Allowance } from './allowance.ts'

/** Keys that owe at once; the oldest debts are forgotten first. */
const OWING = 10_000

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
  /** Until when keys take nothing, by id, on the process's own clock. */
  readonly #owing = new LRUCache<string, number>({ max: OWING })

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
    const limit = this.#limitOf(own)
    if (limit === 'off') return undefined
    const owedMs = (this.#owing.get(id) ?? -Infinity) - performance.now()
    if (owedMs > 0) {
      const count = { consumedPoints: limit.points, msBeforeNext: owedMs }
      return { ...allowance('key', limit, count), over: positions }
    }
    const count = await this.#countersOf(limit.seconds).add(id, positions)
    const over = Math.min(positions, Math.max(0, count.consumedPoints - limit.points))
    return { over, ...allowance('key', limit, count) }
  }

  /**
   * Counts positions that are taken whether they fit or not. For those beyond its limit the key
   * takes nothing, after the end of its window, for as long as so many would have needed.
   */
  async owe(
    { id, rateLimit: own }: Pick<ApiKey, 'id' | 'rateLimit'>,
    positions: number,
  ): Promise<void> {
    const limit = this.#limitOf(own)
    if (limit === 'off' || positions === 0) return
    const { consumedPoints, msBeforeNext } = await this.#countersOf(limit.seconds).add(
      id,
      positions,
    )
    const over = Math.min(positions, consumedPoints - limit.points)
    if (over <= 0) return
    const from = Math.max(this.#owing.get(id) ?? 0, performance.now() + msBeforeNext)
    this.#owing.set(id, from + (over / limit.points) * limit.seconds * 1_000)
  }

  #limitOf(own: number | undefined): RateLimit | 'off' {
    return own === undefined ? this.#limit : { points: own, seconds: OWN_WINDOW_SECONDS }
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
