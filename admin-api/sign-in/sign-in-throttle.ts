import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { ApiError } from '../../runtime/errors.ts'

/**
 * Bounds how often a password can be guessed: by default 10 failures per client address and e-mail
 * in 15 minutes. Failures are remembered in memory, at most `remembered` of them, the oldest go first:
 * more than can be checked in that time. An attempt that never led to a check leaves no trace.
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
   * Runs `check` and counts it as a failure where it gives undefined. It is counted before it runs
   * and given back afterwards, so that many guesses at once are no way around the limit.
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
