export type Percentiles = {
  readonly p50: number
  readonly p99: number
  readonly p999: number
  readonly max: number
}

/** Exact percentiles of latencies in milliseconds. */
export class Latencies {
  #values = new Float64Array(1 << 16)
  #count = 0

  add(milliseconds: number): void {
    if (this.#count === this.#values.length) {
      const larger = new Float64Array(2 * this.#count)
      larger.set(this.#values)
      this.#values = larger
    }
    this.#values[this.#count] = milliseconds
    this.#count += 1
  }

  /** NaN without any values. */
  read(): Percentiles {
    const sorted = this.#values.slice(0, this.#count).sort()
    const at = (fraction: number) => sorted[Math.ceil(fraction * sorted.length) - 1] ?? NaN
    return { p50: at(0.5), p99: at(0.99), p999: at(0.999), max: at(1) }
  }
}
