import { unavailable } from '../../runtime/errors.ts'
import type { RateLimit } from '../../runtime/limits/rate-counters.ts'
import { Slots } from '../../runtime/limits/slots.ts'
import { Turns, type GiveBack, type TurnLimits } from '../../runtime/limits/turns.ts'
import { callRate, tooMany } from './call-rate.ts'

/** The limits of an account. */
const AT_ONCE = 8
/** The others of an account find room beside a caller with many calls, or with files that it reads slowly. */
const AT_ONCE_EACH = 6
const WAITING = 128
const WAITS_MS = 10_000
/** The limits of one caller: 8 calls under way, worked on or next in turn, and 32 more. */
const CALLS_EACH = 40

/** The caller: a key or an operator. */
export type LimitedCaller = {
  /** Whose calls are limited together: those of an account, whatever its number of keys and operators. */
  readonly party: string
  /** The key, operator or client address. */
  readonly caller: string
}

/** Limits the concurrent calls of each account, and each caller's call rate, so that nobody holds up the others. */
export type CallerLimits = {
  /**
   * Begins a call; the returned function ends it.
   * @throws {ApiError} 429 beyond the caller's rate or number of calls; 503 if too many calls of the account wait, or
   * this one did so for too long.
   */
  begin(caller: LimitedCaller): Promise<GiveBack>
}

export function callerLimits({ calls }: { calls: RateLimit | 'off' }): CallerLimits {
  const rate = callRate(calls, 'calls')
  const turns = new PartyTurns({
    atOnce: AT_ONCE,
    atOnceEach: AT_ONCE_EACH,
    waiting: WAITING,
    waitsMs: WAITS_MS,
    refusal: () =>
      unavailable(
        `at most ${AT_ONCE} calls of an account are worked on at a time, ${AT_ONCE_EACH} of one caller, please try again later`,
      ),
  })
  const begun = new Slots({ mostEach: CALLS_EACH })

  return {
    async begin({ party, caller }) {
      await rate.count(caller)
      // Calls of the session are a party of their own.
      const member = `${party} ${caller}`
      if (begun.areTaken(member)) {
        throw tooMany(`one caller may have ${CALLS_EACH} calls under way and waiting`, 1)
      }
      begun.take(member)
      try {
        const giveBack = await turns.take(party, caller)
        return () => {
          giveBack()
          begun.giveBack(member)
        }
      } catch (error) {
        begun.giveBack(member)
        throw error
      }
    },
  }
}

/** Limits the concurrent turns of each party by itself, in which its members take turns; a party without turns takes no memory. */
export class PartyTurns {
  readonly #limits: TurnLimits
  readonly #busy = new Map<string, Turns>()

  constructor(limits: TurnLimits) {
    this.#limits = limits
  }

  /** @throws the error from `refusal`. */
  async take(party: string, member = ''): Promise<GiveBack> {
    const turns = this.#busy.get(party) ?? new Turns(this.#limits)
    this.#busy.set(party, turns)
    const giveBack = await turns.take(member)
    return () => {
      giveBack()
      if (turns.isIdle) this.#busy.delete(party)
    }
  }
}
