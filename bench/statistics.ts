/** NaN without values. */
export function median(values: readonly number[]): number {
  const sorted = Float64Array.from(values).sort()
  const middle = (sorted.length - 1) / 2
  const [low, high] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle)]]
  return low === undefined || high === undefined ? NaN : (low + high) / 2
}

const SHARES = { p25: 0.25, p50: 0.5, p75: 0.75, p95: 0.95, p99: 0.99, p999: 0.999, max: 1 }

export type Percentiles = Readonly<Record<keyof typeof SHARES, number>>

/** Exact percentiles of numbers; NaN without any. */
export function percentiles(values: readonly number[]): Percentiles {
  const sorted = Float64Array.from(values).sort()
  const at = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? NaN
  return Object.fromEntries(
    Object.entries(SHARES).map(([name, share]) => [name, at(share)]),
  ) as Percentiles
}

/**
 * The slope of the best-fitting line through the samples, without the first quarter, in which
 * caches fill.
 */
export function growth(megabytes: readonly number[]): number {
  const samples = megabytes.map((value, at) => ({ value, at }))
  const settled = samples.slice(Math.floor(samples.length / 4))
  const mean = (read: (sample: { at: number; value: number }) => number) =>
    settled.reduce((sum, sample) => sum + read(sample), 0) / settled.length
  const [meanAt, meanValue] = [mean(({ at }) => at), mean(({ value }) => value)]
  const covariance = mean(({ at, value }) => (at - meanAt) * (value - meanValue))
  const variance = mean(({ at }) => (at - meanAt) ** 2)
  return Math.max(0, ((megabytes.length - 1) * covariance) / variance)
}
