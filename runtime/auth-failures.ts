import { clientOf } from './client-address.ts'
import { ApiError } from './errors.ts'
import {
  countedLimit,
  type Count,
  type CountedLimit,
  type OpenRateCounters,
  type RateLimit,
} from './rate-counters.ts'

/** Counts failed authentications per client: see `clientOf`. */
export class AuthFailures {
  readonly #limit: CountedLimit | undefined
  readonly #lacking: string

  /** @param lacking the credential that the requests lack, for the answer. */
  constructor({
    limit,
    openCounters,
    lacking = 'API key',
  }: {
    limit: RateLimit | 'off'
    openCounters: OpenRateCounters
    lacking?: string
  }) {
    this.#limit = countedLimit(limit, { kind: 'auth', openCounters })
    this.#lacking = lacking
  }

  /**
   * @param address undefined: a test report of this process, whose key it has just found good.
   * @throws {ApiError} 429 if the client has no failures left.
   */
  async check(address: string | undefined): Promise<void> {
    if (this.#limit === undefined || address === undefined) return
    const count = await this.#limit.counters.get(clientOf(address))
    if (count !== undefined && count.consumedPoints >= this.#limit.points) {
      throw this.#tooMany(count, this.#limit)
    }
  }

  /** Counts one failure, and returns a 429 if it was one too many. */
  async count(address: string | undefined): Promise<ApiError | undefined> {
    if (this.#limit === undefined || address === undefined) return undefined
    const count = await this.#limit.counters.add(clientOf(address), 1)
    return count.consumedPoints > this.#limit.points ? this.#tooMany(count, this.#limit) : undefined
  }

  #tooMany({ msBeforeNext }: Count, { seconds: window }: RateLimit): ApiError {
    const seconds = Math.min(window, Math.max(1, Math.ceil(msBeforeNext / 1000)))
    const message = `too many requests without a valid ${this.#lacking} came from this address`
    return new ApiError('RATE_LIMITED', `${message}: try again in ${seconds} s`, {
      headers: { 'Retry-After': String(seconds) },
    })
  }
}

/**
 * Marks a report that the admin API sends to test a key, by a secret that only the ingest API of the same
 * process knows: it does not count for its address, or everyone behind that could disable such tests.
 */
export const TEST_REPORT_HEADER = 'x-test-report'
