/** NaN without values. */
export function median(values: readonly number[]): number {
  const sorted = Float64Array.from(values).sort()
  const middle = (sorted.length - 1) / 2
  const [low, high] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle)]]
  return low === undefined || high === undefined ? NaN : (low + high) / 2
}
