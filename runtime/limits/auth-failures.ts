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

/** How long a secret counts as good after it was last found good. */
const GOOD_MS = 60 * 60 * 1_000
const GOOD_KEPT = 50_000

/**
 * The hashes of secrets found good in the last hour, even if they no longer are: a broken device
 * behind a shared address does not lock out devices with these.
 */
export class GoodSecrets {
  // With `max` the cache would allocate all its memory at the start.
  readonly #goodAt = new LRUCache<string, number>({ maxSize: GOOD_KEPT, sizeCalculation: () => 1 })
  readonly #clock: Clock

  /** @param clock a monotonic clock: the system clock may be set back. */
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

/** A secret sent in a request, and the client whose failures it counts towards. */
export type SentSecret = {
  /** Hash of the secret; absent if no text has the form of one. */
  readonly hash: string | undefined
  /** Undefined for this process's own test reports, whose key it has just verified. */
  readonly address: string | undefined
}

/** Counts failed authentications per client: see `clientOf`. */
export class AuthFailures {
  readonly #limit: CountedLimit | undefined
  readonly #good: GoodSecrets
  readonly #lacking: string

  /** @param lacking the missing credential, for the error. */
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
   * @throws {ApiError} 429 if the client has no failures left, unless the secret was good in the
   * last hour.
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
 * Marks a report with which the admin API tests a key, by a secret known only to the ingest API of
 * the same process: its failure does not count for its address, or everyone behind that address
 * could disable such tests.
 */
export const TEST_REPORT_HEADER = 'x-test-report'
