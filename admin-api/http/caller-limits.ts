import { rateLimited, unavailable } from '../../runtime/errors.ts'
import {
  countedLimit,
  memoryRateCounters as openCounters,
  secondsLeft,
  type RateLimit,
} from '../../runtime/limits/rate-counters.ts'
import { Slots, type GiveBack, type SlotLimits } from '../../runtime/limits/slots.ts'

const AT_ONCE = 8
const AT_ONCE_EACH = 6
/** The limits of an account, whose callers share them. */
const LIMITS: SlotLimits = {
  most: AT_ONCE,
  // So that one caller with many calls, or with slow downloads, leaves room for others.
  mostEach: AT_ONCE_EACH,
  waiting: 128,
  waitsMs: 10_000,
  refusal: () =>
    unavailable(
      `at most ${AT_ONCE} calls of an account are processed at a time, ${AT_ONCE_EACH} of one caller, please try again later`,
    ),
}
/**
 * The limits of one caller: 8 concurrent calls, being processed or next in the queue, and 32 more
 * waiting.
 */
const CALLS_EACH = 40

/** The caller: a key or an operator. */
export type LimitedCaller = {
  /** Calls of one party share a limit: all keys and operators of an account. */
  readonly party: string
  /** The key, operator or client address. */
  readonly caller: string
}

/**
 * Limits the concurrent calls of each account, and each caller's call rate, so that no caller
 * blocks others.
 */
export type CallerLimits = {
  /**
   * Starts a call; the returned function ends it.
   * @throws {ApiError} 429 beyond the caller's rate or number of calls; 503 if too many calls of
   * the account wait, or this one did so for too long.
   */
  begin(caller: LimitedCaller): Promise<GiveBack>
}

export function callerLimits({ calls }: { calls: RateLimit | 'off' }): CallerLimits {
  const rate = callRate(calls, 'calls')
  /** The slots of each party with running calls: a party without calls takes no memory. */
  const busy = new Map<string, Slots>()

  return {
    async begin({ party, caller }) {
      await rate.count(caller)
      const slots = busy.get(party) ?? new Slots(LIMITS)
      if (slots.takenBy(caller) + slots.waitersOf(caller) >= CALLS_EACH) {
        throw rateLimited(`one caller may have ${CALLS_EACH} calls running and waiting`, 1)
      }
      busy.set(party, slots)
      const giveBack = await slots.wait(caller)
      return () => {
        giveBack()
        if (slots.areFree) busy.delete(party)
      }
    },
  }
}

/** Counts the calls of each caller in this process. */
type CallRate = {
  /** @throws {ApiError} 429 with `Retry-After` when the caller exceeds the limit. */
  count(callerId: string): Promise<void>
}

/** `of`: the plural noun for the counted calls, as used in messages. */
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
