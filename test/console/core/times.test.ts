import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { METRIC } from '../../../console/core/measures.ts'
import {
  ago,
  agoInWords,
  date,
  duration,
  fromInput,
  minutesText,
  offset,
  time,
  toInput,
} from '../../../console/core/times.ts'

const NOON = Date.parse('2026-01-31T12:30:05.678Z')

describe('elapsed times', () => {
  test.each([
    [0, 'now'],
    [999, 'now'],
    [-5_000, 'now'],
    [1_000, '1 s ago'],
    [59_999, '59 s ago'],
    [60_000, '1 min ago'],
    [3_599_999, '59 min ago'],
    [3_600_000, '1 h ago'],
    [47 * 3_600_000, '47 h ago'],
    [48 * 3_600_000, '2 d ago'],
    [400 * 86_400_000, '400 d ago'],
    [730 * 86_400_000, '730 d ago'],
    [731 * 86_400_000, '2 years ago'],
    [2_168 * 86_400_000, '5 years ago'],
  ])('%i ms are %s', (ms, words) => {
    expect(ago(NOON - ms, NOON)).toBe(words)
  })

  test('a negative duration has no text', () => {
    expect(duration(-1)).toBe('0 s')
  })
})

const MINUTE = 60_000
test.each([
  [0, '0 s'],
  [59_499, '59 s'],
  [59_500, '1 min'],
  [59 * MINUTE, '59 min'],
  [3_599_000, '1 h'],
  [140 * MINUTE, '2 h 20 min'],
  [2_879 * MINUTE, '47 h 59 min'],
  [2_880 * MINUTE, '2 d'],
  [76 * 60 * MINUTE, '3 d 4 h'],
])('%i ms are %s in at most two units', (ms, words) => {
  expect(duration(ms, { ...METRIC, locale: 'en' })).toBe(words)
})

test('a duration has English symbols in every language, like the sentence around it', () => {
  const units = { ...METRIC, locale: 'de' }
  expect([12_000, 140 * MINUTE, 6e15].map((ms) => duration(ms, units))).toEqual([
    '12 s',
    '2 h 20 min',
    '190.128 years',
  ])
})

test.each([
  [-5_000, 'just now'],
  [59_999, 'just now'],
  [60_000, '1 minute ago'],
  [299_999, '4 minutes ago'],
  [3_600_000, '1 hour ago'],
  [47 * 3_600_000, '47 hours ago'],
  [48 * 3_600_000, '2 days ago'],
  [2_168 * 86_400_000, '5 years ago'],
])('%i ms are %s in whole words', (ms, words) => {
  expect(agoInWords(NOON - ms, NOON)).toBe(words)
})

test.each([
  [0, '0 minutes'],
  [1, '1 minute'],
  [60, '1 hour'],
  [90, '90 minutes'],
  [600, '10 hours'],
  [1_440, '24 hours'],
  [2_880, '2 days'],
  [2_940, '49 hours'],
])('%d minutes read %s', (minutes, words) => {
  expect(minutesText(minutes)).toBe(words)
})

describe('a moment in a time zone', () => {
  test.each([
    ['UTC', '2026-01-31 12:30:05', 'UTC'],
    ['Europe/Vienna', '2026-01-31 13:30:05', 'UTC+01:00'],
    ['Asia/Kathmandu', '2026-01-31 18:15:05', 'UTC+05:45'],
    ['Pacific/Kiritimati', '2026-02-01 02:30:05', 'UTC+14:00'],
    ['America/Los_Angeles', '2026-01-31 04:30:05', 'UTC-08:00'],
  ])('%s has its own clock', (zone, words, distance) => {
    expect(offset(NOON, zone)).toBe(distance)
    expect(`${date(NOON, zone)} ${time(NOON, zone)}`).toBe(words)
  })

  test('the hour repeated by a clock change is distinguished by its offset from UTC', () => {
    const [first, second] = ['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z'].map(Date.parse)
    expect(time(first ?? 0, 'Europe/Vienna')).toBe(time(second ?? 0, 'Europe/Vienna'))
    expect(offset(first ?? 0, 'Europe/Vienna')).toBe('UTC+02:00')
    expect(offset(second ?? 0, 'Europe/Vienna')).toBe('UTC+01:00')
  })

  test('midnight is 00, and early years have four digits', () => {
    expect(time(Date.parse('2026-01-31T00:00:00Z'), 'UTC')).toBe('00:00:00')
    expect(date(Date.parse('2000-01-01T00:00:00Z'), 'UTC')).toBe('2000-01-01')
  })
})

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

  test('a time skipped by the clocks moves later by the skipped amount', () => {
    expect(iso('2026-03-29T02:30', 'Europe/Vienna')).toBe('2026-03-29T01:30:00.000Z')
  })

  test('a text that is not a date and time gives no time', () => {
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
