import { expect, test } from '@jest/globals'
import { nextDays } from '../../../console/core/span.ts'
import { nextDay } from '../../../console/core/times.ts'

const counts = (days: Readonly<Record<string, number>>) =>
  new Map(Object.entries(days).map(([day, count]) => [day, { count }]))

test('the missing days of the nearest month are requested immediately', () => {
  const missing = counts({ '2026-04-30': 1, '2026-05-03': 1, '2026-05-20': 1, '2026-06-01': 1 })
  expect(nextDays(missing, '2026-05-10')).toEqual({ first: '2026-05-03', last: '2026-05-20' })
  expect(nextDays(missing, '2026-12-31')).toEqual({ first: '2026-06-01', last: '2026-06-01' })
  expect(nextDays(missing, '2026-01-01')).toEqual({ first: '2026-04-30', last: '2026-04-30' })
  expect(nextDays(new Map(), '2026-05-10')).toBeUndefined()
})

test('days with many records are requested in numbers that the service reads within a second', () => {
  const days = Array.from({ length: 31 }, (_, n) => nextDay('2026-05-01', n))
  const busy = (count: number) => counts(Object.fromEntries(days.map((day) => [day, count])))
  expect(nextDays(busy(20_000), '2026-05-15')).toEqual({ first: '2026-05-13', last: '2026-05-17' })
  expect(nextDays(busy(86_400), '2026-05-15')).toEqual({ first: '2026-05-15', last: '2026-05-15' })
  expect(nextDays(busy(200_000), '2026-06-15')).toEqual({ first: '2026-05-31', last: '2026-05-31' })
})
