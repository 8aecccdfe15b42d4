import { setTimeout as wait } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { GoodSecrets } from '../../runtime/limits/auth-failures.ts'
import { type Clock, awaitFor } from '../../runtime/clock.ts'
import { unavailable } from '../../runtime/errors.ts'
import { isInForce, type KeyGrant, type KeyRefusals, type Keys } from '../../store/keys.ts'

/** A cached grant this old is refreshed in the background. */
const REFRESH_AFTER_MS = 2_000
/** A cached grant this old is used only if the store does not respond. */
const TRUSTED_MS = 5_000
/** How long a cached grant stays usable while the store does not respond. */
const TRUSTED_WITHOUT_STORE_MS = 60 * 60 * 1_000
/** A store that has not responded after this time counts as unavailable. */
const ANSWER_MS = 3_000
/** Pause between probes of an unavailable store. */
const PROBE_EVERY_MS = 1_000
const KNOWN_KEPT = 50_000
const UNKNOWN_KEPT = 10_000
/** The hash of no secret, used to probe the store. */
const NOBODY = Buffer.alloc(32)

type Answer = { readonly grant: KeyGrant; readonly readAt: number }

type Dependencies = {
  readonly keys: Pick<Keys, 'findGrant'>
  readonly good: GoodSecrets
  /** Monotonic: the system clock may be set back. */
  readonly clock: Clock
  readonly wallClock: Clock
  readonly stopping: AbortSignal
}

/**
 * A cache of the store's API keys. Every change by operators takes effect within 5 s; known
 * keys keep working for an hour while the store is unavailable.
 */
export class KeyCache {
  // With `max` the cache would allocate all its memory at the start.
  readonly #known = new LRUCache<string, Answer>({ maxSize: KNOWN_KEPT, sizeCalculation: () => 1 })
  /**
   * Times at which unknown keys were looked up. A separate cache, so that made-up keys never evict
   * real ones.
   */
  readonly #unknown = new LRUCache<string, number>({ max: UNKNOWN_KEPT })
  readonly #asking = new Map<string, Promise<KeyGrant | undefined>>()
  readonly #deps: Dependencies
  #away = false
  #probing = false

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /**
   * The grant for a secret's hash, or undefined if there is no such key. `mayAsk` runs before a
   * request waits for the store; it throws to prevent the look-up.
   * @throws {ApiError} 503 if the store is unavailable and the key is not cached.
   */
  async find(
    secretHash: Buffer,
    mayAsk: (id: string) => Promise<void>,
  ): Promise<KeyGrant | undefined> {
    const id = secretHash.toString('base64')
    const known = this.#known.get(id)
    const age = this.#age(known?.readAt ?? this.#unknown.get(id))
    if (age < TRUSTED_MS) {
      if (age >= REFRESH_AFTER_MS && this.#deps.good.has(id)) {
        this.#ask(id, secretHash).catch(() => undefined)
      }
      return known?.grant
    }
    await mayAsk(id)
    const fallback = age <= TRUSTED_WITHOUT_STORE_MS ? known?.grant : undefined
    if (fallback !== undefined && this.#away) return this.#noteGood(id, fallback)
    try {
      return await this.#ask(id, secretHash)
    } catch (error) {
      if (fallback !== undefined) return this.#noteGood(id, fallback)
      throw unavailable('the API key cannot be checked right now, please send it again', error)
    }
  }

  #noteGood(id: string, grant: KeyGrant): KeyGrant {
    if (isInForce(grant, this.#deps.wallClock.now())) this.#deps.good.note(id)
    return grant
  }

  #age(readAt: number | undefined): number {
    const age = readAt === undefined ? Infinity : this.#deps.clock.now() - readAt
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
    // The age starts before the query: its result may miss a change made during it.
    const readAt = this.#deps.clock.now()
    const grant = await this.#answer(secretHash)
    if (grant === undefined) {
      this.#known.delete(id)
      this.#unknown.set(id, readAt)
    } else {
      this.#unknown.delete(id)
      this.#known.set(id, { grant, readAt })
      this.#noteGood(id, grant)
    }
    return grant
  }

  async #answer(secretHash: Buffer): Promise<KeyGrant | undefined> {
    try {
      const grant = await awaitFor(ANSWER_MS, this.#deps.keys.findGrant(secretHash), deadlineError)
      this.#away = false
      return grant
    } catch (error) {
      this.#away = true
      this.#probe().catch(() => undefined)
      throw error
    }
  }

  /** Probes the unavailable store, so that requests need not wait for a timeout. */
  async #probe(): Promise<void> {
    if (this.#probing) return
    this.#probing = true
    const signal = this.#deps.stopping
    while (this.#away && !signal.aborted) {
      await wait(PROBE_EVERY_MS, undefined, { ref: false, signal }).catch(() => undefined)
      if (this.#away && !signal.aborted) await this.#answer(NOBODY).catch(() => undefined)
    }
    this.#probing = false
  }
}

/**
 * When keys were last used or refused, collected in memory so that no request writes to the store.
 */
export class KeyUsage {
  #usedAt = new Map<string, number>()
  #refusals = new Map<string, KeyRefusals>()
  readonly #keys: Pick<Keys, 'touchKeys' | 'countRefusals'>

  constructor({ keys }: { keys: Pick<Keys, 'touchKeys' | 'countRefusals'> }) {
    this.#keys = keys
  }

  note(keyId: string, usedAt: number): void {
    this.#usedAt.set(keyId, usedAt)
  }

  /** Records a request with a key that is revoked, expired or replaced. */
  noteRefusal(keyId: string, lastAt: number): void {
    const { count = 0 } = this.#refusals.get(keyId) ?? {}
    this.#refusals.set(keyId, { count: count + 1, lastAt })
  }

  /** Writes the uses recorded since the last flush; if that fails, they remain for the next one. */
  async flush(): Promise<void> {
    await this.#flushUse()
    await this.#flushRefusals()
  }

  async #flushUse(): Promise<void> {
    if (this.#usedAt.size === 0) return
    const flushing = this.#usedAt
    this.#usedAt = new Map()
    try {
      await this.#keys.touchKeys(flushing)
    } catch (error) {
      this.#usedAt = new Map([...flushing, ...this.#usedAt])
      throw error
    }
  }

  async #flushRefusals(): Promise<void> {
    // Written one by one, so that entries written before a failure are not counted again.
    for (const [keyId, refusals] of this.#refusals) {
      this.#refusals.delete(keyId)
      try {
        await this.#keys.countRefusals(new Map([[keyId, refusals]]))
      } catch (error) {
        const { count = 0, lastAt = refusals.lastAt } = this.#refusals.get(keyId) ?? {}
        this.#refusals.set(keyId, { count: count + refusals.count, lastAt })
        throw error
      }
    }
  }
}

function deadlineError(): Error {
  return new Error('the store did not respond in time')
}
