import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { ApiError } from '../../runtime/errors.ts'

/**
 * Bounds how often a password can be guessed: by default 10 failures per client address and e-mail
 * in 15 minutes. Counters are kept in memory, at most `remembered`, the oldest go first.
 */
export class SignInThrottle {
  readonly #failures: RateLimiterMemory
  readonly #remembered: LRUCache<string, true>

  constructor({ failures = 10, windowSeconds = 15 * 60, remembered = 10_000 } = {}) {
    this.#failures = new RateLimiterMemory({ points: failures, duration: windowSeconds })
    this.#remembered = new LRUCache({
      max: remembered,
      disposeAfter: (_, key, reason) => {
        if (reason === 'evict') this.#failures.delete(key).catch(() => undefined)
      },
    })
  }

  /**
   * Runs `check` and counts it as a failure where it gives undefined. It is counted before it runs
   * and given back afterwards, so that many guesses at once are no way around the limit.
   * @throws {ApiError} 429 with `Retry-After`, without running `check`.
   */
  async attempt<T>(
    { address, email }: { address: string; email: string },
    check: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const key = createHash('sha256')
      .update(JSON.stringify([address, email.toLowerCase()]))
      .digest('base64')
    this.#remembered.set(key, true)
    await this.#count(key)
    let failed = false
    try {
      const result = await check()
      failed = result === undefined
      return result
    } finally {
      if (!failed) await this.#failures.reward(key)
    }
  }

  async #count(key: string): Promise<void> {
    try {
      await this.#failures.consume(key)
    } catch (refused) {
      if (!(refused instanceof RateLimiterRes)) throw refused
      const seconds = Math.max(1, Math.ceil(refused.msBeforeNext / 1000))
      throw new ApiError('RATE_LIMITED', `too many failed sign-ins: try again in ${seconds} s`, {
        headers: { 'Retry-After': String(seconds) },
      })
    }
  }
}
