import type { Keys } from '../../store/back-office.ts'

/** When keys were last used, gathered in memory so that a request never writes to the store. */
export class KeyUsage {
  #usedAt = new Map<string, number>()
  readonly #keys: Pick<Keys, 'touchKeys'>

  constructor({ keys }: { keys: Pick<Keys, 'touchKeys'> }) {
    this.#keys = keys
  }

  note(keyId: string, usedAt: number): void {
    this.#usedAt.set(keyId, usedAt)
  }

  /** Writes what was noted since the last time. What could not be written is kept for the next. */
  async flush(): Promise<void> {
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
}
