import { describe, expect, test } from '@jest/globals'
import { isWithinHours } from '../../deliverer/run/wanted.ts'
import type { Hours } from '../../schemas/subscriptions/subscription.ts'

const WEEKDAYS = [1, 2, 3, 4, 5]
const within = (hours: Hours, iso: string) => isWithinHours(hours, Date.parse(iso))

describe('hours in a zone', () => {
  const office: Hours = { days: WEEKDAYS, from: '08:00', to: '17:30', zone: 'Europe/Berlin' }

  test.each([
    ['2026-01-05T07:00:00Z', true], // Monday, 08:00
    ['2026-01-05T06:59:59.999Z', false],
    ['2026-01-05T16:29:59.999Z', true],
    ['2026-01-05T16:30:00Z', false],
    ['2026-07-06T06:00:00Z', true], // In summer
    ['2026-01-04T10:00:00Z', false], // Sunday
    ['1969-12-29T09:00:00Z', true], // A Monday before the epoch
  ])('%s: %p', (time, expected) => expect(within(office, time)).toBe(expected))

  test('24:00 is the end of the day', () => {
    const late = { ...office, from: '22:00', to: '24:00' }
    expect(within(late, '2026-01-05T22:59:59Z')).toBe(true)
    expect(within(late, '2026-01-05T23:00:00Z')).toBe(false)
  })
})

describe('hours past midnight belong to the day on which they start', () => {
  const friday: Hours = { days: [5], from: '22:00', to: '06:00', zone: 'America/New_York' }

  test.each([
    ['2026-01-10T03:00:00Z', true], // Friday, 22:00
    ['2026-01-10T10:59:59Z', true], // Saturday, 05:59
    ['2026-01-10T11:00:00Z', false],
    ['2026-01-09T10:00:00Z', false], // Friday, 05:00, of Thursday
    ['2026-01-11T03:30:00Z', false], // Saturday, 22:30
  ])('%s: %p', (time, expected) => expect(within(friday, time)).toBe(expected))
})

describe('when clocks change, local time decides', () => {
  const night: Hours = { days: [7], from: '02:00', to: '03:00', zone: 'Europe/Berlin' }

  test('an hour that occurs twice when clocks go back matches both times', () => {
    const times = ['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z', '2026-10-25T02:00:00Z']
    expect(times.map((time) => within(night, time))).toEqual([true, true, false])
  })

  test('an hour that the clock skips does not occur', () => {
    const times = ['2026-03-29T00:59:59Z', '2026-03-29T01:00:00Z']
    expect(times.map((time) => within(night, time))).toEqual([false, false])
  })
})
