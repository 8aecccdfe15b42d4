import { describe, expect, test } from '@jest/globals'
import {
  monthOf,
  partsOf,
  shiftSpan,
  spanBounds,
  parseSpan,
  spanQuery,
  spanText,
  weekOf,
  yearOf,
} from '../../../console/core/span.ts'

const TODAY = '2026-11-25'
const day = (first: string) => ({ first, last: first })

describe('days shown together', () => {
  test.each([
    ['', day(TODAY)],
    ['day=2026-11-22', day('2026-11-22')],
    ['day=2026-02-30', day(TODAY)],
    ['from=2026-11-01&to=2026-11-30', { first: '2026-11-01', last: '2026-11-30' }],
    ['from=2026-11-30&to=2026-11-01', { first: '2026-11-01', last: '2026-11-30' }],
    ['from=2026-11-30', day(TODAY)],
  ])('%p in the address names them', (query, span) => {
    expect(parseSpan(new URLSearchParams(query), TODAY)).toEqual(span)
    expect(parseSpan(new URLSearchParams(spanQuery(span, TODAY)), TODAY)).toEqual(span)
  })

  test('other days keep the other devices of the replay', () => {
    expect(spanQuery(day('2026-11-22'), TODAY, 'a')).toBe('?day=2026-11-22&with=a')
    expect(spanQuery(day(TODAY), TODAY, 'a')).toBe('?with=a')
    expect(spanQuery(day(TODAY), TODAY, null)).toBe('')
  })

  test.each([
    [day('2026-11-22'), 'Sun 22 Nov'],
    [weekOf('2026-11-22'), '16 – 22 Nov'],
    [weekOf('2026-12-01'), '30 Nov – 6 Dec'],
    [weekOf('2026-01-01'), '29 Dec 2025 – 4 Jan'],
    [monthOf('2026-02-14'), 'Feb 2026'],
    [yearOf('2024-02-29'), '2024'],
  ])('%p has words', (span, text) => expect(spanText(span, TODAY, 'en-GB')).toBe(text))

  test.each([
    [day('2026-03-01'), -1, day('2026-02-28')],
    [weekOf('2026-11-22'), 1, weekOf('2026-11-23')],
    [monthOf('2026-03-31'), -1, monthOf('2026-02-01')],
    [monthOf('2026-12-31'), 1, monthOf('2027-01-01')],
    [yearOf('2026-05-05'), -1, yearOf('2025-05-05')],
    [{ first: '2026-11-03', last: '2026-11-05' }, -1, { first: '2026-10-31', last: '2026-11-02' }],
  ] as const)('%p has a span of the same length before and after it', (span, by, beside) => {
    expect(shiftSpan(span, by)).toEqual(beside)
  })

  test('months end on their last day', () => {
    expect(monthOf('2024-02-10')).toEqual({ first: '2024-02-01', last: '2024-02-29' })
    expect(monthOf('2026-12-10')).toEqual({ first: '2026-12-01', last: '2026-12-31' })
  })

  test('spans last from the first midnight to the last, across clock changes', () => {
    const { from, to } = spanBounds(monthOf('2026-03-01'), 'Europe/Vienna')
    expect((to - from) / 3_600_000).toBe(31 * 24 - 1)
  })
})

test('a span has its days as parts, or its months if it is longer than one', () => {
  const parts = (first: string, last: string) =>
    partsOf({ first, last }).map((part) => `${part.first} ${part.last}`)
  expect(parts('2026-01-31', '2026-02-01')).toEqual([
    ...['2026-01-31 2026-01-31', '2026-02-01 2026-02-01'],
  ])
  expect(parts('2026-01-01', '2026-01-31')).toHaveLength(31)
  expect(parts('2025-12-30', '2026-02-01')).toEqual([
    ...['2025-12-30 2025-12-31', '2026-01-01 2026-01-31', '2026-02-01 2026-02-01'],
  ])
})
