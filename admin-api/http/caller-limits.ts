import type { RateLimit } from '../../runtime/rate-counters.ts'
import { callRate, tooMany } from './call-rate.ts'
import { PartyTurns } from './party-turns.ts'
import type { GiveBack } from '../../runtime/turns.ts'

const AT_ONCE = 8
const WAITING = 32
const WAITS_MS = 10_000

/**
 * Limits each caller's concurrent calls and call rate in this process, so that no caller holds up
 * the others.
 *
 * @throws {ApiError} 429 with `Retry-After`.
 */
export type CallerLimits = {
  /** Begins a call; the returned function ends it. */
  begin(callerId: string): Promise<GiveBack>
}

export function callerLimits({ calls }: { calls: RateLimit | 'off' }): CallerLimits {
  const rate = callRate(calls, 'calls')
  const turns = new PartyTurns({
    atOnce: AT_ONCE,
    waiting: WAITING,
    waitsMs: WAITS_MS,
    refusal: () => tooMany(`at most ${AT_ONCE} calls run at the same time for one caller`, 1),
  })

  return {
    async begin(callerId) {
      await rate.count(callerId)
      return turns.take(callerId)
    },
  }
}
