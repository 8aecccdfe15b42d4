import { LRUCache } from 'lru-cache'
import { memoryRateCounters } from '../../runtime/limits/rate-counters.ts'

/** A failure, counted in advance unless it exceeds the limit. */
export type Taken = {
  readonly isTooMany: boolean
  readonly msBeforeNext: number
  /** Confirms the failure. */
  keep(): void
  /** Takes the failure back. */
  giveBack(): Promise<void>
}

/**
 * Counts failures by name, up to `most` in a window. Memory holds at most `remembered` names of
 * confirmed failures and drops the oldest first: more than there can be password checks in that
 * time.
 */
export class Failures {
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
    // Attempts that are not confirmed yet are fewer than these.
    this.#counts = memoryRateCounters({ seconds, kept: 2 * remembered })
    // With `max` the cache would allocate everything at the start.
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
