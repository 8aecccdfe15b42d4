import { describe, expect, test } from '@jest/globals'
import { dayBounds, isDay, nextDay } from '../../../console/core/times.ts'

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
    // In this zone the clocks go forward at midnight.
    ['2026-03-29', 'Asia/Beirut', '2026-03-28T22:00:00.000Z', 23],
  ])('%s in %s starts at %s and has %d hours', (day, zone, from, hours) => {
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
