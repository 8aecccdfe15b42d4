import { createHash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { ApiError } from '../../runtime/errors.ts'
import { Failures, type Taken } from './failures.ts'

type Who = {
  readonly client: string
  readonly email: string
  /** Whether an operator has this e-mail. */
  readonly isKnown: boolean
}

/**
 * Limits password guessing: by default 10 failures per client address and e-mail in 15 minutes, and
 * 30 per client address. Beyond the latter the right password still signs in, so that an attacker
 * does not shut out others behind the same address: unknown e-mails then cost no check, operators'
 * passwords are tried 30 times per address in all, and every failure gets the same 429 after the
 * same time. An attempt that was never checked is not counted.
 */
export class SignInThrottle {
  readonly #ofPair: Failures
  readonly #ofClient: Failures
  readonly #guesses: Failures
  readonly #answersAfterMs: number

  constructor({
    failures = 10,
    failuresOfClient = 30,
    seconds = 15 * 60,
    remembered = 50_000,
    answersAfterMs = 1_000,
  } = {}) {
    this.#ofPair = new Failures({ most: failures, seconds, remembered })
    this.#ofClient = new Failures({ most: failuresOfClient, seconds, remembered })
    this.#guesses = new Failures({ most: failuresOfClient, seconds, remembered })
    this.#answersAfterMs = answersAfterMs
  }

  /**
   * Runs `check` and counts a failure if it returns undefined. The failure is counted in advance
   * and undone on success, so concurrent guesses do not bypass the limit.
   *
   * @throws {ApiError} 429 with `Retry-After`.
   */
  async attempt<T>(who: Who, check: () => Promise<T | undefined>): Promise<T | undefined> {
    const { client, email, isKnown } = who
    const pair = createHash('sha256')
      .update(JSON.stringify([client, email.toLowerCase()]))
      .digest('base64')
    const ofPair = await this.#ofPair.take(pair)
    if (ofPair.isTooMany) throw tooMany(ofPair)
    const ofClient = await this.#ofClient.take(client)
    const guess = isKnown ? await this.#guesses.take(client) : undefined
    const isTried = !ofClient.isTooMany || guess?.isTooMany === false
    const answered = ofClient.isTooMany ? wait(this.#answersAfterMs) : undefined
    let failed = false
    try {
      const result = isTried ? await check() : undefined
      failed = result === undefined
      if (failed) await answered
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
  const seconds = Math.max(1, Math.ceil(msBeforeNext / 1000))
  return new ApiError('RATE_LIMITED', `too many failed sign-ins: try again in ${seconds} s`, {
    headers: { 'Retry-After': String(seconds) },
  })
}
