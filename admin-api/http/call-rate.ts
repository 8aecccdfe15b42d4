import { rateLimited } from '../../runtime/errors.ts'
import {
  countedLimit,
  memoryRateCounters as openCounters,
  secondsLeft,
  type RateLimit,
} from '../../runtime/limits/rate-counters.ts'

/** Counts the calls of each caller in this process. */
export type CallRate = {
  /** @throws {ApiError} 429 with `Retry-After` when the caller exceeds the limit. */
  count(callerId: string): Promise<void>
}

/** `of`: the calls that are counted, in the plural. */
export function callRate(limit: RateLimit | 'off', of: string): CallRate {
  const counted = countedLimit(limit, { kind: 'calls', openCounters })
  if (counted === undefined) return { count: async () => undefined }
  const { points, seconds, counters } = counted
  return {
    async count(callerId) {
      const count = await counters.add(callerId, 1)
      if (count.consumedPoints <= points) return
      const message = `at most ${points} ${of} in ${seconds} s are allowed for one caller`
      throw rateLimited(message, secondsLeft(count, counted))
    },
  }
}
