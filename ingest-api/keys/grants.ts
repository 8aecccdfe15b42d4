import { setTimeout as wait } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../../runtime/clock.ts'
import { unavailable } from '../../runtime/http.ts'
import { within } from '../../runtime/within.ts'
import type { KeyGrant, Keys } from '../../store/back-office.ts'

/** From this age on an answer of the store is asked for anew in the background. */
const REFRESH_AFTER_MS = 2_000
/** From this age on it is not used while the store answers. */
const TRUSTED_MS = 5_000
/** While the store does not answer, a key it once knew is good for this long. */
const TRUSTED_WITHOUT_STORE_MS = 60 * 60 * 1_000
/** A store that has not answered by then counts as away. */
const ANSWER_MS = 3_000
/** How long after a failure it is looked whether the store answers again. */
const LOOK_AGAIN_MS = 1_000
const KNOWN_KEPT = 50_000
const UNKNOWN_KEPT = 10_000
/** What no secret has for its hash: asked for only to see whether the store answers. */
const NOBODY = Buffer.alloc(32)

type Answer = { readonly grant: KeyGrant; readonly readAt: number }

/**
 * What the store says of API keys, remembered for seconds: every change of the back office is in
 * force within 5 s, and known keys go on working for an hour while the store is away.
 */
export class Grants {
  readonly #known = new LRUCache<string, Answer>({ max: KNOWN_KEPT })
  /** When the store said that there is no such key. Apart, so that made-up keys push out no good one. */
  readonly #unknown = new LRUCache<string, number>({ max: UNKNOWN_KEPT })
  readonly #asking = new Map<string, Promise<KeyGrant | undefined>>()
  readonly #keys: Pick<Keys, 'findGrant'>
  readonly #clock: Clock
  readonly #stopping: AbortSignal
  #away = false
  #looking = false

  /** @param clock a steady one: what a key may do must not depend on how the machine's is set. */
  constructor({
    keys,
    clock,
    stopping,
  }: {
    keys: Pick<Keys, 'findGrant'>
    clock: Clock
    stopping: AbortSignal
  }) {
    this.#keys = keys
    this.#clock = clock
    this.#stopping = stopping
  }

  /**
   * The grant behind a secret's hash, or undefined when there is no such key.
   * @throws {ApiError} 503 when the store is away and does not let that be known.
   */
  async find(secretHash: Buffer): Promise<KeyGrant | undefined> {
    const id = secretHash.toString('base64')
    const known = this.#known.get(id)
    const age = this.#age(known?.readAt ?? this.#unknown.get(id))
    if (age < TRUSTED_MS) {
      if (age >= REFRESH_AFTER_MS) this.#ask(id, secretHash).catch(() => undefined)
      return known?.grant
    }
    const fallback = age <= TRUSTED_WITHOUT_STORE_MS ? known?.grant : undefined
    if (fallback !== undefined && this.#away) return fallback
    try {
      return await this.#ask(id, secretHash)
    } catch (error) {
      if (fallback !== undefined) return fallback
      throw unavailable('the API key cannot be checked right now, please send it again', error)
    }
  }

  #age(readAt: number | undefined): number {
    const age = readAt === undefined ? Infinity : this.#clock.now() - readAt
    return age < 0 ? Infinity : age
  }

  #ask(id: string, secretHash: Buffer): Promise<KeyGrant | undefined> {
    const asking = this.#asking.get(id)
    if (asking !== undefined) return asking
    const asked = this.#askStore(id, secretHash).finally(() => this.#asking.delete(id))
    this.#asking.set(id, asked)
    return asked
  }

  async #askStore(id: string, secretHash: Buffer): Promise<KeyGrant | undefined> {
    // The age counts from before the question: a change made meanwhile may not be in the answer.
    const readAt = this.#clock.now()
    const grant = await this.#answer(secretHash)
    if (grant === undefined) {
      this.#known.delete(id)
      this.#unknown.set(id, readAt)
    } else {
      this.#unknown.delete(id)
      this.#known.set(id, { grant, readAt })
    }
    return grant
  }

  async #answer(secretHash: Buffer): Promise<KeyGrant | undefined> {
    try {
      const grant = await within(ANSWER_MS, this.#keys.findGrant(secretHash), tooLate)
      this.#away = false
      return grant
    } catch (error) {
      this.#away = true
      this.#lookAgain().catch(() => undefined)
      throw error
    }
  }

  /** Nobody waits for a store that is away: this finds out when it answers again. */
  async #lookAgain(): Promise<void> {
    if (this.#looking) return
    this.#looking = true
    const signal = this.#stopping
    while (this.#away && !signal.aborted) {
      await wait(LOOK_AGAIN_MS, undefined, { ref: false, signal }).catch(() => undefined)
      if (this.#away && !signal.aborted) await this.#answer(NOBODY).catch(() => undefined)
    }
    this.#looking = false
  }
}

function tooLate(): Error {
  return new Error('the store did not answer in time')
}
