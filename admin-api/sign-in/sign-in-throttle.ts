import { createHash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { rateLimited, ApiError } from '../../runtime/errors.ts'
import { memoryRateCounters } from '../../runtime/limits/rate-counters.ts'
import { Slots } from '../../runtime/limits/slots.ts'
import { passwordTurns, tooManyPasswordChecks, type PasswordTurns } from './password.ts'

type Who = {
  readonly client: string
  readonly email: string
  /** Whether an operator has this e-mail. */
  readonly isKnown: boolean
}

/**
 * Limits password guessing: by default 10 failures per client address and e-mail in 15 minutes, and
 * 30 per client address. Beyond the latter the correct password still signs in, so that an attacker
 * does not shut out others behind the same address, operators' passwords are tried 30 times per
 * address in all, and every failure gets the same 429. In every state, an attempt with an unknown
 * e-mail costs the same work and takes as long as one with a known e-mail: see `LateChecks`. An
 * attempt below the limit that never ran is not counted.
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
    // Many times the duration of a check, or a busy machine would reject the correct password.
    answersAfterMs = 3_000,
  } = {}) {
    this.#ofPair = new Failures({ most: failures, seconds, remembered })
    this.#ofClient = new Failures({ most: failuresOfClient, seconds, remembered })
    this.#guesses = new Failures({ most: failuresOfClient, seconds, remembered })
    this.#turns = turns
    this.#late = new LateChecks({ turns, answersAfterMs })
  }

  /**
   * Runs `check` when a slot is free and counts a failure if it returns undefined. Without
   * `maySucceed` it must do the work of a wrong password. The failure is counted in advance and
   * undone on success, so concurrent guesses do not bypass the limit.
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
    if (ofPair.isTooMany) throw tooManyAttempts(ofPair)
    const ofClient = await this.#ofClient.take(client)
    const guess = isKnown ? await this.#guesses.take(client) : undefined
    const maySucceed = isKnown && !(ofClient.isTooMany && guess?.isTooMany === true)
    let failed = false
    try {
      const result = ofClient.isTooMany
        ? await this.#late.run(() => check(maySucceed), { client, maySucceed })
        : await this.#turns.run(() => check(maySucceed), client)
      failed = result === undefined
      if (failed && ofClient.isTooMany) throw tooManyAttempts(ofClient)
      return result
    } finally {
      for (const taken of [ofPair, ofClient, guess]) {
        if (failed) taken?.keep()
        else await taken?.giveBack()
      }
    }
  }
}

function tooManyAttempts({ msBeforeNext }: Taken): ApiError {
  return rateLimited('too many failed sign-ins', Math.max(1, Math.ceil(msBeforeNext / 1000)))
}

/** A failure, counted in advance unless it exceeds the limit. */
type Taken = {
  readonly isTooMany: boolean
  readonly msBeforeNext: number
  /** Confirms the failure. */
  keep(): void
  /** Undoes the failure. */
  giveBack(): Promise<void>
}

/**
 * Counts failures by name, up to `most` in a window. Memory holds at most `remembered` names with
 * confirmed failures and drops the oldest first: that is more than the number of possible password
 * checks in the window.
 */
class Failures {
  readonly #counts: ReturnType<typeof memoryRateCounters>
  readonly #most: number
  readonly #remembered: LRUCache<string, true>

  constructor({
    most,
    seconds,
    remembered,
  }: {
    most: number
    seconds: number
    remembered: number
  }) {
    this.#most = most
    // There are never this many unconfirmed attempts.
    this.#counts = memoryRateCounters({ seconds, kept: 2 * remembered })
    // With `max` the cache would allocate all its memory at the start.
    this.#remembered = new LRUCache({
      maxSize: remembered,
      sizeCalculation: () => 1,
      disposeAfter: (_, name, reason) => {
        if (reason === 'evict') this.#counts.remove(name)
      },
    })
  }

  async take(name: string): Promise<Taken> {
    const { consumedPoints, msBeforeNext } = await this.#counts.add(name, 1)
    if (consumedPoints > this.#most) {
      await this.#giveBack(name)
      const nothing = { keep: () => undefined, giveBack: async () => undefined }
      return { isTooMany: true, msBeforeNext, ...nothing }
    }
    return {
      isTooMany: false,
      msBeforeNext,
      keep: () => this.#remembered.set(name, true),
      giveBack: () => this.#giveBack(name),
    }
  }

  async #giveBack(name: string): Promise<void> {
    const { consumedPoints } = await this.#counts.add(name, -1)
    if (consumedPoints <= 0) this.#counts.remove(name)
  }
}

/** More than one process can check before the response is due. */
const WAITING = { waiting: 1_000, waitingEach: 100 }

/**
 * Checks passwords for clients beyond their limit of failures, one at a time. Each check does the
 * same work, and every failure gets its response after exactly `answersAfterMs`: neither time nor
 * queue shows which checks could have succeeded. Checks that can succeed go first, so a flood of
 * others does not delay them. A check that has not started by then fails.
 */
class LateChecks {
  readonly #turns: PasswordTurns
  readonly #lane: Slots
  /**
   * The queue before the lane of checks that cannot succeed: together they take one slot of the
   * lane.
   */
  readonly #futile: Slots
  readonly #answersAfterMs: number

  constructor({ turns, answersAfterMs }: { turns: PasswordTurns; answersAfterMs: number }) {
    const limits = { ...WAITING, most: 1, waitsMs: answersAfterMs, refusal: tooManyPasswordChecks }
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
    const runInLane = (party: string) => this.#lane.run(() => this.#turns.run(check, client), party)
    try {
      return maySucceed
        ? await runInLane(client)
        : await this.#futile.run(() => runInLane(''), client)
    } catch (error) {
      if (error instanceof ApiError && error.error === 'SERVICE_UNAVAILABLE') return undefined
      throw error
    }
  }
}
