import { expect, test } from '@jest/globals'
import { DAY_MS, timeTicks, valueRange, valueTicks } from '../../../console/core/ticks.ts'

const HOUR = 3_600_000
const iso = (times: readonly number[]) => times.map((ms) => new Date(ms).toISOString())

test('marks of time are at round times of the zone', () => {
  const from = Date.parse('2026-11-22T07:10:00Z')
  const { step, at } = timeTicks(from, from + 4 * HOUR, 5, 'Asia/Kolkata')
  expect(step).toBe(HOUR)
  expect(iso(at)).toEqual([
    '2026-11-22T07:30:00.000Z',
    '2026-11-22T08:30:00.000Z',
    '2026-11-22T09:30:00.000Z',
    '2026-11-22T10:30:00.000Z',
  ])
})

test('marks of days are at midnight, where the clocks change too', () => {
  const from = Date.parse('2026-10-24T00:00:00+02:00')
  const { step, at } = timeTicks(from, from + 3 * DAY_MS, 4, 'Europe/Vienna')
  expect(step).toBe(DAY_MS)
  expect(iso(at)).toEqual([
    '2026-10-23T22:00:00.000Z',
    '2026-10-24T22:00:00.000Z',
    '2026-10-25T23:00:00.000Z',
  ])
})

test.each([1_000, 90_000, 3 * HOUR, DAY_MS, 31 * DAY_MS, 400 * DAY_MS, 20_000 * DAY_MS])(
  'a span of %d ms has a few marks, in order and within',
  (length) => {
    const from = Date.parse('2026-01-31T10:07:03Z')
    const { at } = timeTicks(from, from + length, 10, 'America/New_York')
    expect(at.length).toBeLessThanOrEqual(11)
    expect(at).toEqual([...new Set(at)].sort((a, b) => a - b))
    expect(at.every((ms) => ms >= from && ms <= from + length)).toBe(true)
  },
)

test.each([
  [0, 100, 6, false, [0, 20, 40, 60, 80, 100]],
  [0, 100, 5, false, [0, 50, 100]],
  [33.76, 34.17, 4, false, [33.800000000000004, 33.9, 34, 34.1]],
  [-18, -15, 4, false, [-18, -17, -16, -15]],
  [0.1, 0.35, 3, false, [0.1, 0.2, 0.30000000000000004]],
  [0, 1.1, 4, true, [0, 1]],
  [5, 5, 3, false, [5]],
] as const)(
  'the values from %p to %p have at most %d marks',
  (least, greatest, most, isCount, at) => {
    expect(valueTicks(least, greatest, most, isCount).at).toEqual(at)
  },
)

test('an axis has a margin around its values, does not cross zero, and does not magnify noise', () => {
  expect(valueRange(0, 100)).toEqual([0, 110])
  expect(valueRange(-20, -10)).toEqual([-21, -9])
  const [low, high] = valueRange(1_000, 1_000.1)
  expect(high - low).toBeGreaterThanOrEqual(10)
  expect(valueRange(0, 0)).toEqual([0, 1])
})
