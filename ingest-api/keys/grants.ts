import { LRUCache } from 'lru-cache'
import type { Clock } from '../../runtime/clock.ts'
import { unavailable } from '../../runtime/http.ts'
import type { KeyGrant, Keys } from '../../store/back-office.ts'

/** From this age on an answer of the store is asked for anew in the background. */
const REFRESH_AFTER_MS = 2_000
/** From this age on it is not used while the store answers. */
const TRUSTED_MS = 5_000
/** While the store does not answer, a key it once knew is good for this long. */
const TRUSTED_WITHOUT_STORE_MS = 60 * 60 * 1_000
/** A store that has not answered by then counts as away. */
const ANSWER_MS = 3_000
/** How long after a failure a stale answer is used without waiting for the store again. */
const AWAY_PAUSE_MS = 1_000
const REMEMBERED = 50_000

type Answer = { readonly grant: KeyGrant | undefined; readonly readAt: number }

/**
 * What the store says of API keys, remembered for seconds: every change of the back office is in
 * force within 5 s, and known keys go on working for an hour while the store is away.
 */
export class Grants {
  readonly #answers = new LRUCache<string, Answer>({ max: REMEMBERED })
  readonly #asking = new Map<string, Promise<Answer>>()
  readonly #keys: Pick<Keys, 'findGrant'>
  readonly #clock: Clock
  #awayUntil = 0

  constructor({ keys, clock }: { keys: Pick<Keys, 'findGrant'>; clock: Clock }) {
    this.#keys = keys
    this.#clock = clock
  }

  /**
   * The grant behind a secret's hash, or undefined when there is no such key.
   * @throws {ApiError} 503 when the store is away and does not let that be known.
   */
  async find(secretHash: Buffer): Promise<KeyGrant | undefined> {
    const id = secretHash.toString('base64')
    const known = this.#answers.get(id)
    const age = known === undefined ? Infinity : this.#clock.now() - known.readAt
    if (known !== undefined && age < TRUSTED_MS) {
      if (age >= REFRESH_AFTER_MS) this.#ask(id, secretHash).catch(() => undefined)
      return known.grant
    }
    const fallback = age <= TRUSTED_WITHOUT_STORE_MS ? known?.grant : undefined
    if (fallback !== undefined && this.#clock.now() < this.#awayUntil) return fallback
    try {
      return (await this.#ask(id, secretHash)).grant
    } catch (error) {
      if (fallback !== undefined) return fallback
      throw unavailable('the API key cannot be checked right now, please send it again', error)
    }
  }

  #ask(id: string, secretHash: Buffer): Promise<Answer> {
    const asking = this.#asking.get(id)
    if (asking !== undefined) return asking
    const asked = this.#askStore(id, secretHash).finally(() => this.#asking.delete(id))
    this.#asking.set(id, asked)
    return asked
  }

  async #askStore(id: string, secretHash: Buffer): Promise<Answer> {
    // The age counts from before the question: a change made meanwhile may not be in the answer.
    const readAt = this.#clock.now()
    try {
      const grant = await withinDeadline(this.#keys.findGrant(secretHash))
      const answer = { grant, readAt }
      this.#answers.set(id, answer)
      return answer
    } catch (error) {
      this.#awayUntil = this.#clock.now() + AWAY_PAUSE_MS
      throw error
    }
  }
}

async function withinDeadline<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('the store did not answer in time')), ANSWER_MS)
  })
  return Promise.race([answer, late]).finally(() => clearTimeout(timer))
}
