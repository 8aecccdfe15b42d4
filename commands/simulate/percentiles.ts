const DEFAULT_CAPACITY = 500_000

/**
 * Percentiles of a stream of numbers: exact up to `capacity` values, beyond that from a random
 * sample of that size, so that memory stays bounded.
 */
export class SampledPercentiles {
  readonly #values: number[] = []
  readonly #capacity: number
  #count = 0
  #max = -Infinity

  constructor({ capacity = DEFAULT_CAPACITY }: { capacity?: number } = {}) {
    this.#capacity = capacity
  }

  get count(): number {
    return this.#count
  }

  add(value: number): void {
    this.#count += 1
    this.#max = Math.max(this.#max, value)
    if (this.#values.length < this.#capacity) {
      this.#values.push(value)
      return
    }
    const place = Math.floor(Math.random() * this.#count)
    if (place < this.#capacity) this.#values[place] = value
  }

  /** Returns the percentiles; undefined without values. */
  read(): { p50: number; p95: number; p99: number; max: number } | undefined {
    const sorted = Float64Array.from(this.#values).sort()
    if (sorted.length === 0) return undefined
    const at = (fraction: number) => sorted[Math.ceil(fraction * sorted.length) - 1] ?? NaN
    return { p50: at(0.5), p95: at(0.95), p99: at(0.99), max: this.#max }
  }
}
