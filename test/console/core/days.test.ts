import { describe, expect, test } from '@jest/globals'
import {
  dateText,
  dayBounds,
  dayText,
  isDay,
  momentText,
  nextDay,
} from '../../../console/core/days.ts'

const iso = (ms: number) => new Date(ms).toISOString()

describe('a day in a time zone', () => {
  test.each([
    ['2026-01-31', 'UTC', '2026-01-31T00:00:00.000Z', 24],
    ['2026-01-31', 'Europe/Vienna', '2026-01-30T23:00:00.000Z', 24],
    ['2026-01-31', 'Pacific/Kiritimati', '2026-01-30T10:00:00.000Z', 24],
    ['2026-01-31', 'Pacific/Pago_Pago', '2026-01-31T11:00:00.000Z', 24],
    ['2026-03-29', 'Europe/Vienna', '2026-03-28T23:00:00.000Z', 23],
    ['2026-10-25', 'Europe/Vienna', '2026-10-24T22:00:00.000Z', 25],
    ['2026-04-05', 'Australia/Lord_Howe', '2026-04-04T13:00:00.000Z', 24.5],
    // There the clocks go forward at midnight.
    ['2026-03-29', 'Asia/Beirut', '2026-03-28T22:00:00.000Z', 23],
  ])('%s in %s begins at %s and has %d hours', (day, zone, from, hours) => {
    const bounds = dayBounds(day, zone)
    expect(iso(bounds.from)).toBe(from)
    expect((bounds.to - bounds.from) / 3_600_000).toBe(hours)
  })

  test('a day follows another', () => {
    expect(nextDay('2026-02-28', 1)).toBe('2026-03-01')
    expect(nextDay('2026-01-01', -1)).toBe('2025-12-31')
    expect(nextDay('2026-03-29', 1)).toBe('2026-03-30')
  })

  test.each(['2026-02-30', '2026-1-1', 'today', '', '1999-12-31', '2026-01-31T00:00'])(
    '%p is none',
    (text) => expect(isDay(text)).toBe(false),
  )

  test('isDay accepts days only', () => expect(isDay('2028-02-29')).toBe(true))
})

test('a day in words has its year only where it is another than today’s', () => {
  expect(dayText('2026-11-22', '2026-11-25')).toBe('Sun 22 Nov')
  expect(dateText('2026-11-02', '2026-11-25')).toBe('2 Nov')
  expect(dayText('2025-11-22', '2026-11-25')).toBe('Sat 22 Nov 2025')
})

test.each([
  ['2026-01-29T12:00:00Z', 'Thu 29 Jan 13:00'],
  ['2026-01-30T21:24:00Z', 'yesterday 22:24'],
  ['2026-01-31T21:24:00Z', 'today 22:24'],
  ['2026-01-31T23:30:00Z', 'tomorrow 00:30'],
  ['2026-02-01T21:24:00Z', 'tomorrow 22:24'],
  ['2026-02-03T21:24:00Z', 'Tue 3 Feb 22:24'],
  ['2027-02-03T21:24:00Z', 'Wed 3 Feb 2027 22:24'],
])('in Vienna on 31 January 2026, %s is %s', (at, words) => {
  const now = Date.parse('2026-01-31T12:30:05Z')
  expect(momentText(Date.parse(at), now, 'Europe/Vienna', '24')).toBe(words)
})
