import type { LabelCount } from './read-models.ts'

/** Labels counted beyond the result, before the excess is dropped again. */
const SPARE = 1_000

/**
 * Counts the devices with each label, and keeps only the first labels in order: there may be very
 * many.
 */
export class LabelCounts {
  readonly #limit: number
  readonly #after: string
  readonly #counts = new Map<string, number>()
  /** Labels sorted after this one are dropped. */
  #last: string | undefined

  /** @param after the last label of the previous page. */
  constructor({ limit, after = '' }: { readonly limit: number; readonly after?: string }) {
    this.#limit = limit
    this.#after = after
  }

  add(label: string, devices: number): void {
    if (label <= this.#after || (this.#last !== undefined && label > this.#last)) return
    this.#counts.set(label, (this.#counts.get(label) ?? 0) + devices)
    if (this.#counts.size > this.#limit + SPARE) this.#cut()
  }

  list(): LabelCount[] {
    this.#cut()
    return [...this.#counts]
      .map(([label, devices]) => ({ label, devices }))
      .sort((a, b) => (a.label < b.label ? -1 : 1))
  }

  #cut(): void {
    const labels = [...this.#counts.keys()].sort()
    this.#last = labels[this.#limit - 1]
    for (const label of labels.slice(this.#limit)) this.#counts.delete(label)
  }
}
