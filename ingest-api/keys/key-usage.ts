import type { Keys } from '../../store/back-office.ts'

/** When keys were last used, collected in memory so that no request writes to the store. */
export class KeyUsage {
  #usedAt = new Map<string, number>()
  readonly #keys: Pick<Keys, 'touchKeys'>

  constructor({ keys }: { keys: Pick<Keys, 'touchKeys'> }) {
    this.#keys = keys
  }

  note(keyId: string, usedAt: number): void {
    this.#usedAt.set(keyId, usedAt)
  }

  /** Writes the times noted since the last flush, and keeps them if that fails. */
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
