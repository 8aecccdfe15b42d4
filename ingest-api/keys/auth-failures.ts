import type { RateLimit } from '../../runtime/config/config.ts'
import { ApiError } from '../../runtime/errors.ts'
import {
  countedLimit,
  type Count,
  type CountedLimit,
  type OpenRateCounters,
} from '../../runtime/rate-counters.ts'

/** Longer than any address; what is longer was made up by a client. */
const ADDRESS_LENGTH = 64

/** Counts failed authentications per client address. */
export class AuthFailures {
  readonly #limit: CountedLimit | undefined

  constructor({
    limit,
    openCounters,
  }: {
    limit: RateLimit | 'off'
    openCounters: OpenRateCounters
  }) {
    this.#limit = countedLimit(limit, { kind: 'auth', openCounters })
  }

  /** @throws {ApiError} 429 if the address has no failures left. */
  async check(address: string): Promise<void> {
    if (this.#limit === undefined) return
    const count = await this.#limit.counters.get(address.slice(0, ADDRESS_LENGTH))
    if (count !== undefined && count.consumedPoints >= this.#limit.points) {
      throw tooMany(count, this.#limit)
    }
  }

  /** Counts one failure, and returns a 429 if it was one too many. */
  async count(address: string): Promise<ApiError | undefined> {
    if (this.#limit === undefined) return undefined
    const count = await this.#limit.counters.add(address.slice(0, ADDRESS_LENGTH), 1)
    return count.consumedPoints > this.#limit.points ? tooMany(count, this.#limit) : undefined
  }
}

function tooMany({ msBeforeNext }: Count, { seconds: window }: RateLimit): ApiError {
  const seconds = Math.min(window, Math.max(1, Math.ceil(msBeforeNext / 1000)))
  return new ApiError(
    'RATE_LIMITED',
    `too many requests without a valid API key came from this address: try again in ${seconds} s`,
    { headers: { 'Retry-After': String(seconds) } },
  )
}
