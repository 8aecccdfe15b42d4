import { LRUCache } from 'lru-cache'
import { clientOf } from '../http/client-address.ts'
import { steadyClock, type Clock } from '../clock.ts'
import { rateLimited, type ApiError } from '../errors.ts'
import {
  countedLimit,
  secondsLeft,
  type Count,
  type CountedLimit,
  type OpenRateCounters,
  type RateLimit,
} from './rate-counters.ts'

/** The time for which a secret counts as good after it was last found good. */
const GOOD_MS = 60 * 60 * 1_000
const GOOD_KEPT = 50_000

/**
 * Secrets that were found good in the last hour, by their hash, even if they no longer are: a broken device behind
 * a shared address shuts none of them out.
 */
export class GoodSecrets {
  // With `max` the cache would allocate everything at the start.
  readonly #goodAt = new LRUCache<string, number>({ maxSize: GOOD_KEPT, sizeCalculation: () => 1 })
  readonly #clock: Clock

  /** @param clock a monotonic clock: the machine's may be set back. */
  constructor({ clock = steadyClock }: { clock?: Clock } = {}) {
    this.#clock = clock
  }

  note(hash: string): void {
    this.#goodAt.set(hash, this.#clock.now())
  }

  has(hash: string): boolean {
    const age = this.#clock.now() - (this.#goodAt.get(hash) ?? -Infinity)
    return age >= 0 && age <= GOOD_MS
  }
}

/** A secret that a request carries, and the client that it counts for. */
export type SentSecret = {
  /** Absent: no text has the shape of a secret. */
  readonly hash: string | undefined
  /** Undefined: a test report of this process, whose key it has just found good. */
  readonly address: string | undefined
}

/** Counts failed authentications per client: see `clientOf`. */
export class AuthFailures {
  readonly #limit: CountedLimit | undefined
  readonly #good: GoodSecrets
  readonly #lacking: string

  /** @param lacking the credential that the requests lack, for the answer. */
  constructor({
    limit,
    openCounters,
    good,
    lacking = 'API key',
  }: {
    limit: RateLimit | 'off'
    openCounters: OpenRateCounters
    good: GoodSecrets
    lacking?: string
  }) {
    this.#limit = countedLimit(limit, { kind: 'auth', openCounters })
    this.#good = good
    this.#lacking = lacking
  }

  /**
   * Call before a look-up.
   * @throws {ApiError} 429 if the client has no failures left, unless the secret was good in the last hour.
   */
  async check({ hash, address }: SentSecret): Promise<void> {
    if (this.#limit === undefined || address === undefined || this.#isGood(hash)) return
    const count = await this.#limit.counters.get(clientOf(address))
    if (count !== undefined && count.consumedPoints >= this.#limit.points) {
      throw this.#tooMany(count, this.#limit)
    }
  }

  /**
   * Counts one failure.
   * @throws {ApiError} 429 if it was one too many, unless the secret was good in the last hour.
   */
  async count({ hash, address }: SentSecret): Promise<void> {
    if (this.#limit === undefined || address === undefined) return
    const count = await this.#limit.counters.add(clientOf(address), 1)
    if (count.consumedPoints > this.#limit.points && !this.#isGood(hash)) {
      throw this.#tooMany(count, this.#limit)
    }
  }

  #isGood(hash: string | undefined): boolean {
    return hash !== undefined && this.#good.has(hash)
  }

  #tooMany(count: Count, limit: RateLimit): ApiError {
    const message = `too many requests without a valid ${this.#lacking} came from this address`
    return rateLimited(message, secondsLeft(count, limit))
  }
}

/**
 * Marks a report that the admin API sends to test a key, by a secret that only the ingest API of the same
 * process knows: it does not count for its address, or everyone behind that could disable such tests.
 */
export const TEST_REPORT_HEADER = 'x-test-report'
