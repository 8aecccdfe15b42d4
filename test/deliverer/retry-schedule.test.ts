import { expect, test } from '@jest/globals'
import { pauseAfter } from '../../deliverer/retry-schedule.ts'
import { parseRetryAfter } from '../../deliverer/send/http-client.ts'

const seconds = (failures: number, random: number) => pauseAfter(failures, { random }) / 1_000

test('the pauses grow from 5 seconds to an hour, and each varies by a fifth', () => {
  const middle = [1, 2, 3, 4, 5, 6, 7, 8, 500].map((failures) => seconds(failures, 0.5))
  expect(middle).toEqual([5, 30, 120, 300, 900, 1_800, 3_600, 3_600, 3_600])
  expect([seconds(1, 0), seconds(1, 1), seconds(9, 0), seconds(9, 1)]).toEqual([4, 6, 2_880, 4_320])
})

test('Retry-After is obeyed up to an hour, and no receiver is tried more often than every 5 seconds', () => {
  const after = (retryAfterMs: number) => pauseAfter(7, { retryAfterMs, random: 0 }) / 1_000
  expect([after(20_000), after(3_600_000), after(86_400_000), after(0)]).toEqual([
    20, 3_600, 3_600, 5,
  ])
})

test('Retry-After is read as seconds or as a date', () => {
  const now = Date.UTC(2026, 0, 1)
  expect(parseRetryAfter('120', now)).toBe(120_000)
  expect(parseRetryAfter('Thu, 01 Jan 2026 00:00:30 GMT', now)).toBe(30_000)
  expect(parseRetryAfter('Wed, 31 Dec 2025 00:00:00 GMT', now)).toBe(0)
  for (const other of [undefined, '', 'soon', '-5', '1.', '1,5', '1.5.5']) {
    expect(parseRetryAfter(other, now)).toBeUndefined()
  }
})

test('Retry-After may contain fractional seconds', () => {
  const parsed = ['6.5', ' 0.65 ', '12.000', '7.0001'].map((text) => parseRetryAfter(text, 0))
  expect(parsed).toEqual([6_500, 650, 12_000, 7_001])
})
