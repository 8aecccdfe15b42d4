import { expect, test } from '@jest/globals'
import { SampledPercentiles } from '../../../commands/simulate/percentiles.ts'

function of(values: readonly number[], options?: { capacity: number }) {
  const percentiles = new SampledPercentiles(options)
  for (const value of values) percentiles.add(value)
  return percentiles
}

test('percentiles do not depend on the order of values', () => {
  const descending = Array.from({ length: 1000 }, (_, index) => 1000 - index)
  expect(of(descending).read()).toEqual({ p50: 500, p95: 950, p99: 990, max: 1000 })
  expect(of([7]).read()).toEqual({ p50: 7, p95: 7, p99: 7, max: 7 })
  expect(of([10, 9]).read()).toEqual({ p50: 9, p95: 10, p99: 10, max: 10 })
})

test('percentiles of nothing are unknown', () => {
  expect(of([]).read()).toBeUndefined()
})

test('percentiles beyond the capacity come from a sample of all values, except the maximum', () => {
  const rising = Array.from({ length: 100_000 }, (_, index) => index)
  const percentiles = of(rising, { capacity: 2000 })
  expect(percentiles.count).toBe(100_000)
  const { p50 = NaN, max } = percentiles.read() ?? {}
  // Eight standard deviations of the median of 2000 even values.
  expect(Math.abs(p50 - 50_000)).toBeLessThan(9_000)
  expect(max).toBe(99_999)
})
