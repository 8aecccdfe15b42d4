import { createHash } from 'node:crypto'
import { rateLimited, type ApiError } from '../../runtime/errors.ts'
import { Failures, type Taken } from './failures.ts'
import { LateChecks } from './late-checks.ts'
import { passwordTurns, type PasswordTurns } from './password.ts'

type Who = {
  readonly client: string
  readonly email: string
  /** Whether an operator has this e-mail. */
  readonly isKnown: boolean
}

/**
 * Limits password guessing: by default 10 failures per client address and e-mail in 15 minutes, and
 * 30 per client address. Beyond the latter the right password still signs in, so that an attacker
 * does not shut out others behind the same address, operators' passwords are tried 30 times per
 * address in all, and every failure gets the same 429. In every state, an attempt with an
 * unknown e-mail costs the same work and takes as long as one with an operator's: see `LateChecks`.
 * An attempt that found no turn below the limit is not counted.
 */
export class SignInThrottle {
  readonly #ofPair: Failures
  readonly #ofClient: Failures
  readonly #guesses: Failures
  readonly #turns: PasswordTurns
  readonly #late: LateChecks

  constructor({
    turns = passwordTurns(),
    failures = 10,
    failuresOfClient = 30,
    seconds = 15 * 60,
    remembered = 50_000,
    // Many times what a check takes, or the right password would be refused by a busy machine.
    answersAfterMs = 3_000,
  } = {}) {
    this.#ofPair = new Failures({ most: failures, seconds, remembered })
    this.#ofClient = new Failures({ most: failuresOfClient, seconds, remembered })
    this.#guesses = new Failures({ most: failuresOfClient, seconds, remembered })
    this.#turns = turns
    this.#late = new LateChecks({ turns, answersAfterMs })
  }

  /**
   * Runs `check` in a turn and counts a failure if it returns undefined. Without `maySucceed` it
   * must do the work of a wrong password. The failure is counted in advance and undone on success,
   * so concurrent guesses do not bypass the limit.
   *
   * @throws {ApiError} 429 with `Retry-After`; 503 if there is no turn.
   */
  async attempt<T>(
    { client, email, isKnown }: Who,
    check: (maySucceed: boolean) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const pair = createHash('sha256')
      .update(JSON.stringify([client, email.toLowerCase()]))
      .digest('base64')
    const ofPair = await this.#ofPair.take(pair)
    if (ofPair.isTooMany) throw tooMany(ofPair)
    const ofClient = await this.#ofClient.take(client)
    const guess = isKnown ? await this.#guesses.take(client) : undefined
    const maySucceed = isKnown && !(ofClient.isTooMany && guess?.isTooMany === true)
    let failed = false
    try {
      const result = ofClient.isTooMany
        ? await this.#late.run(() => check(maySucceed), { client, maySucceed })
        : await this.#turns.run(() => check(maySucceed), client)
      failed = result === undefined
      if (failed && ofClient.isTooMany) throw tooMany(ofClient)
      return result
    } finally {
      for (const taken of [ofPair, ofClient, guess]) {
        if (failed) taken?.keep()
        else await taken?.giveBack()
      }
    }
  }
}

function tooMany({ msBeforeNext }: Taken): ApiError {
  return rateLimited('too many failed sign-ins', Math.max(1, Math.ceil(msBeforeNext / 1000)))
}
