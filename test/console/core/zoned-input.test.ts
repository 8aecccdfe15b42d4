import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { fromInput, toInput } from '../../../console/core/zoned-input.ts'

const iso = (text: string, zone: string) => {
  const ms = fromInput(text, zone)
  return ms === undefined ? undefined : new Date(ms).toISOString()
}

describe('a date and time that an operator types', () => {
  test.each([
    ['2026-01-31T12:30', 'UTC', '2026-01-31T12:30:00.000Z'],
    ['2026-01-31T12:30', 'Europe/Vienna', '2026-01-31T11:30:00.000Z'],
    ['2026-07-31T12:30', 'Europe/Vienna', '2026-07-31T10:30:00.000Z'],
    ['2026-01-31T12:30', 'Asia/Kathmandu', '2026-01-31T06:45:00.000Z'],
    ['2026-01-31T12:30', 'America/New_York', '2026-01-31T17:30:00.000Z'],
  ])('%s in %s is %s', (text, zone, moment) => {
    expect(iso(text, zone)).toBe(moment)
  })

  test('a time that the clocks show twice is the first of the two', () => {
    expect(iso('2026-10-25T02:30', 'Europe/Vienna')).toBe('2026-10-25T00:30:00.000Z')
  })

  test('a time that the clocks skip is as much later', () => {
    expect(iso('2026-03-29T02:30', 'Europe/Vienna')).toBe('2026-03-29T01:30:00.000Z')
  })

  test('a text that is no date and time is no moment', () => {
    expect(iso('', 'UTC')).toBeUndefined()
    expect(iso('2026-13-01T00:00', 'UTC')).toBeUndefined()
  })

  test('the text of a field is read back as the same minute or, in a repeated hour, the first', () => {
    const zones = fc.constantFrom('UTC', 'Europe/Vienna', 'America/St_Johns', 'Australia/Lord_Howe')
    const minutes = fc.integer({ min: 27_000_000, max: 34_000_000 })
    fc.assert(
      fc.property(zones, minutes, (zone, minute) => {
        const text = toInput(minute * 60_000, zone)
        const back = fromInput(text, zone)
        expect(back === undefined ? undefined : toInput(back, zone)).toBe(text)
        expect(back).toBeLessThanOrEqual(minute * 60_000)
      }),
      { numRuns: 500 },
    )
  })
})
