import { Turns, type GiveBack, type TurnLimits } from '../../runtime/turns.ts'

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
