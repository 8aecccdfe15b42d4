import { setTimeout as wait } from 'node:timers/promises'
import { ApiError } from '../../runtime/errors.ts'
import { Slots } from '../../runtime/limits/slots.ts'
import { noPasswordTurn, type PasswordTurns } from './password.ts'

/** More than one process checks until the answer. */
const WAITING = { waiting: 1_000, waitingEach: 100 }

/**
 * Checks passwords for clients beyond their limit of failures, one at a time. Each check does the
 * same work, and every failure is answered after exactly `answersAfterMs`: neither time nor queue
 * shows which checks could have succeeded. Those go first, so a flood of the others does not hold
 * them up. A check without a turn by then fails.
 */
export class LateChecks {
  readonly #turns: PasswordTurns
  readonly #lane: Slots
  /** The queue before the lane of checks that cannot succeed: they take one place in it. */
  readonly #futile: Slots
  readonly #answersAfterMs: number

  constructor({ turns, answersAfterMs }: { turns: PasswordTurns; answersAfterMs: number }) {
    const limits = { ...WAITING, most: 1, waitsMs: answersAfterMs, refusal: noPasswordTurn }
    this.#turns = turns
    this.#lane = new Slots(limits)
    this.#futile = new Slots(limits)
    this.#answersAfterMs = answersAfterMs
  }

  /** @returns undefined for a failed check. */
  async run<T>(
    check: () => Promise<T | undefined>,
    { client, maySucceed }: { client: string; maySucceed: boolean },
  ): Promise<T | undefined> {
    const deadline = wait(this.#answersAfterMs, undefined)
    const result = await Promise.race([this.#check(check, { client, maySucceed }), deadline])
    if (result === undefined) await deadline
    return result
  }

  async #check<T>(
    check: () => Promise<T | undefined>,
    { client, maySucceed }: { client: string; maySucceed: boolean },
  ): Promise<T | undefined> {
    const inLane = (party: string) => this.#lane.run(() => this.#turns.run(check, client), party)
    try {
      return maySucceed ? await inLane(client) : await this.#futile.run(() => inLane(''), client)
    } catch (error) {
      if (error instanceof ApiError && error.error === 'SERVICE_UNAVAILABLE') return undefined
      throw error
    }
  }
}
