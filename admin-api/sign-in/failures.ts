import { LRUCache } from 'lru-cache'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'

/** A failure that is counted beforehand, unless it is one too many. */
export type Taken = {
  readonly isTooMany: boolean
  readonly msBeforeNext: number
  /** It was a failure. */
  keep(): void
  /** It was none. */
  giveBack(): Promise<void>
}

/**
 * Failures by name, `most` in a window. Of those that were kept at most `remembered` names are in
 * memory, the oldest are dropped first: more than passwords can be checked in that time.
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
