export type Percentiles = {
  readonly p50: number
  readonly p99: number
  readonly p999: number
  readonly max: number
}

/** Exact percentiles of numbers; NaN without any. */
export function percentiles(values: readonly number[]): Percentiles {
  const sorted = Float64Array.from(values).sort()
  const at = (fraction: number) => sorted[Math.ceil(fraction * sorted.length) - 1] ?? NaN
  return { p50: at(0.5), p99: at(0.99), p999: at(0.999), max: at(1) }
}
