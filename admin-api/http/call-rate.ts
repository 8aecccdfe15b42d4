import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { ApiError } from '../../runtime/errors.ts'
import type { RateLimit } from '../../runtime/rate-counters.ts'

/** Counts the calls of each caller in this process. */
export type CallRate = {
  /** @throws {ApiError} 429 with `Retry-After` when the caller exceeds the limit. */
  count(callerId: string): Promise<void>
}

/** `of`: the calls that are counted, in the plural. */
export function callRate(limit: RateLimit | 'off', of: string): CallRate {
  if (limit === 'off') return { count: async () => undefined }
  const { points, seconds: window } = limit
  const counter = new RateLimiterMemory({ points, duration: window })
  return {
    async count(callerId) {
      try {
        await counter.consume(callerId)
      } catch (refused) {
        if (!(refused instanceof RateLimiterRes)) throw refused
        const seconds = Math.max(1, Math.ceil(refused.msBeforeNext / 1000))
        throw tooMany(`at most ${points} ${of} in ${window} s are allowed for one caller`, seconds)
      }
    },
  }
}

export function tooMany(message: string, seconds: number): ApiError {
  return new ApiError('RATE_LIMITED', `${message}: try again in ${seconds} s`, {
    headers: { 'Retry-After': String(seconds) },
  })
}
