import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { RateLimit } from '../../runtime/config/config.ts'
import { ApiError } from '../../runtime/errors.ts'
import { Turns, type GiveBack } from './turns.ts'

const AT_ONCE = 8
const WAITING = 32
const WAITS_MS = 10_000

/**
 * Limits each caller's concurrent calls and call rate in this process, so that none holds up the
 * others.
 * @throws {ApiError} 429 with `Retry-After`.
 */
export type CallerLimits = {
  /** Begins a call; the returned function ends it. */
  begin(callerId: string): Promise<GiveBack>
}

export function callerLimits({ calls }: { calls: RateLimit | 'off' }): CallerLimits {
  const counter =
    calls === 'off'
      ? undefined
      : new RateLimiterMemory({ points: calls.points, duration: calls.seconds })
  const busy = new Map<string, Turns>()

  function turnsOf(callerId: string): Turns {
    let turns = busy.get(callerId)
    if (turns === undefined) {
      turns = new Turns({
        atOnce: AT_ONCE,
        waiting: WAITING,
        waitsMs: WAITS_MS,
        refusal: () => tooMany(`at most ${AT_ONCE} calls run at the same time for one caller`, 1),
      })
      busy.set(callerId, turns)
    }
    return turns
  }

  async function count(callerId: string): Promise<void> {
    try {
      await counter?.consume(callerId)
    } catch (refused) {
      if (!(refused instanceof RateLimiterRes) || calls === 'off') throw refused
      const seconds = Math.max(1, Math.ceil(refused.msBeforeNext / 1000))
      const { points, seconds: window } = calls
      throw tooMany(`at most ${points} calls in ${window} s are allowed for one caller`, seconds)
    }
  }

  return {
    async begin(callerId) {
      await count(callerId)
      const turns = turnsOf(callerId)
      const giveBack = await turns.take()
      return () => {
        giveBack()
        if (turns.isIdle) busy.delete(callerId)
      }
    },
  }
}

function tooMany(what: string, seconds: number): ApiError {
  return new ApiError('RATE_LIMITED', `${what}: try again in ${seconds} s`, {
    headers: { 'Retry-After': String(seconds) },
  })
}
