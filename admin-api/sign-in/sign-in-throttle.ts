import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { ApiError } from '../../runtime/errors.ts'

/**
 * Limits password guessing: by default 10 failures per client address and e-mail in 15 minutes. At
 * most `remembered` failures are kept in memory, the oldest are dropped first: more than can be
 * checked in that time. An attempt that was never checked is not counted.
 */
export class SignInThrottle {
  readonly #failures: RateLimiterMemory
  readonly #remembered: LRUCache<string, true>

  constructor({ failures = 10, windowSeconds = 15 * 60, remembered = 50_000 } = {}) {
    this.#failures = new RateLimiterMemory({ points: failures, duration: windowSeconds })
    this.#remembered = new LRUCache({
      max: remembered,
      disposeAfter: (_, key, reason) => {
        if (reason === 'evict') this.#failures.delete(key).catch(() => undefined)
      },
    })
  }

  /**
   * Runs `check` and counts a failure if it returns undefined. The failure is counted beforehand
   * and undone on success, so concurrent guesses do not bypass the limit.
   * @throws {ApiError} 429 with `Retry-After`, without running `check`.
   */
  async attempt<T>(
    { client, email }: { client: string; email: string },
    check: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const key = createHash('sha256')
      .update(JSON.stringify([client, email.toLowerCase()]))
      .digest('base64')
    await this.#count(key)
    let failed = false
    try {
      const result = await check()
      failed = result === undefined
      return result
    } finally {
      if (failed) this.#remembered.set(key, true)
      else await this.#giveBack(key)
    }
  }

  async #giveBack(key: string): Promise<void> {
    const { consumedPoints } = await this.#failures.reward(key)
    if (consumedPoints <= 0) await this.#failures.delete(key)
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
