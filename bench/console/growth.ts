/**
 * The slope of the line that fits the samples best, without the first quarter, in which caches
 * fill.
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
