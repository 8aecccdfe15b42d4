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

/** Positions of a request that were counted before it is known what becomes of it. */
export type Charge = {
  /** Nothing was counted, because other requests have used up the limit meanwhile. */
  readonly exhausted?: Allowance
  /**
   * All of it was taken, whether it fitted or not. For what was beyond its limit the key takes
   * nothing, after the end of its window, for as long as so much would have needed.
   */
  owe(): void
  /** Nothing of it was taken: it comes again. */
  giveBack(): Promise<void>
}

const NO_CHARGE: Charge = { owe: () => undefined, giveBack: () => Promise.resolve() }

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
   * Counts the other positions of a request whose first one was within the limit, however many they
   * are.
   */
  async charge(
    { id, rateLimit: own }: Pick<ApiKey, 'id' | 'rateLimit'>,
    positions: number,
  ): Promise<Charge> {
    const limit = this.#limitOf(own)
    if (limit === 'off' || positions <= 0) return NO_CHARGE
    const counters = this.#countersOf(limit.seconds)
    const count = await counters.add(id, positions)
    const { consumedPoints } = count
    const endsAt = performance.now() + count.msBeforeNext
    const giveBack = async () => {
      if (performance.now() < endsAt) await counters.add(id, -positions)
    }
    if (consumedPoints - positions > limit.points) {
      await giveBack()
      return { ...NO_CHARGE, exhausted: allowance('key', limit, count) }
    }
    const over = Math.min(positions, consumedPoints - limit.points)
    const owe = () => {
      if (over <= 0) return
      const from = Math.max(this.#owing.get(id) ?? 0, endsAt)
      this.#owing.set(id, from + (over / limit.points) * limit.seconds * 1_000)
    }
    return { owe, giveBack }
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
