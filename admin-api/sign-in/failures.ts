import { LRUCache } from 'lru-cache'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'

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
  readonly #counts: RateLimiterMemory
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
    this.#counts = new RateLimiterMemory({ points: most, duration: seconds })
    this.#remembered = new LRUCache({
      max: remembered,
      disposeAfter: (_, name, reason) => {
        if (reason === 'evict') this.#counts.delete(name).catch(() => undefined)
      },
    })
  }

  async take(name: string): Promise<Taken> {
    try {
      const { msBeforeNext } = await this.#counts.consume(name)
      return {
        isTooMany: false,
        msBeforeNext,
        keep: () => this.#remembered.set(name, true),
        giveBack: () => this.#giveBack(name),
      }
    } catch (refused) {
      if (!(refused instanceof RateLimiterRes)) throw refused
      await this.#giveBack(name)
      const nothing = { keep: () => undefined, giveBack: async () => undefined }
      return { isTooMany: true, msBeforeNext: refused.msBeforeNext, ...nothing }
    }
  }

  async #giveBack(name: string): Promise<void> {
    const { consumedPoints } = await this.#counts.reward(name)
    if (consumedPoints <= 0) await this.#counts.delete(name)
  }
}
