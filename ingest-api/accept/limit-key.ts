import { RateLimiterMemory } from 'rate-limiter-flexible'
import type { RateLimit } from '../../runtime/config/config.ts'
import { ApiError } from '../../runtime/errors.ts'
import type { HttpMiddleware } from '../../runtime/http.ts'
import type { IngestState } from '../keys/authenticate.ts'

/** What a key's own limit is per, in seconds. */
const OWN_WINDOW_SECONDS = 60

/**
 * Refuses positions beyond what the key may report: its own limit, where it has one, else `limit`.
 * Counted in this process. Every answer tells what is left (draft-ietf-httpapi-ratelimit-headers-10).
 */
export function limitKey({ limit }: { limit: RateLimit | 'off' }): HttpMiddleware<IngestState> {
  const counters = new Map<number, RateLimiterMemory>()

  /** The limits differ from key to key and may change, so the counters only count. */
  function counterOf(seconds: number): RateLimiterMemory {
    let counter = counters.get(seconds)
    if (counter === undefined) {
      counter = new RateLimiterMemory({ points: Number.MAX_SAFE_INTEGER, duration: seconds })
      counters.set(seconds, counter)
    }
    return counter
  }

  return async function limitKey(ctx, next) {
    const { key } = ctx.state.grant
    const { rateLimit: own } = key
    const inForce = own === undefined ? limit : { points: own, seconds: OWN_WINDOW_SECONDS }
    if (inForce === 'off') {
      await next()
      return
    }
    const { points, seconds } = inForce
    const { consumedPoints, msBeforeNext } = await counterOf(seconds).consume(key.id)
    const resetSeconds = Math.max(1, Math.ceil(msBeforeNext / 1000))
    ctx.set({
      'RateLimit-Policy': `"key";q=${points};w=${seconds}`,
      RateLimit: `"key";r=${Math.max(0, points - consumedPoints)};t=${resetSeconds}`,
    })
    if (consumedPoints > points) {
      const message = `this API key may report ${points} positions in ${seconds} s: send it again in ${resetSeconds} s`
      throw new ApiError('RATE_LIMITED', message, {
        headers: { 'Retry-After': String(resetSeconds) },
      })
    }
    await next()
  }
}
