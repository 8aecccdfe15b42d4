import type { RateLimit } from '../../runtime/rate-counters.ts'
import { Turns, type GiveBack, type TurnLimits } from '../../runtime/turns.ts'
import { callRate, tooMany } from './call-rate.ts'

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

/** Limits the concurrent turns of each party by itself; a party without turns takes no memory. */
export class PartyTurns {
  readonly #limits: TurnLimits
  readonly #busy = new Map<string, Turns>()

  constructor(limits: TurnLimits) {
    this.#limits = limits
  }

  /** @throws the error from `refusal`. */
  async take(party: string): Promise<GiveBack> {
    const turns = this.#busy.get(party) ?? new Turns(this.#limits)
    this.#busy.set(party, turns)
    const giveBack = await turns.take()
    return () => {
      giveBack()
      if (turns.isIdle) this.#busy.delete(party)
    }
  }
}
