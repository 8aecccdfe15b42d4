/** @node all */
import { expect, jest, test } from '@jest/globals'
import {
  isTimeZone,
  localClock,
  localSteps,
  type StepUnit,
} from '../../../schemas/geo/local-time.ts'

function steps(step: StepUnit, timeZone: string, from: string, to: string): string[] | undefined {
  const range = { from: Date.parse(from), to: Date.parse(to) }
  return localSteps({ ...range, step, timeZone }, 1_000)?.map((start) =>
    new Date(start).toISOString().slice(0, 16),
  )
}

test.each([
  ['UTC', '2026-03-28T12:00Z', ['2026-03-28T00:00', '2026-03-29T00:00', '2026-03-30T00:00']],
  [
    'Europe/Berlin',
    '2026-03-28T12:00Z',
    ['2026-03-27T23:00', '2026-03-28T23:00', '2026-03-29T22:00'],
  ],
  [
    'Europe/Berlin',
    '2026-10-24T22:00Z',
    ['2026-10-24T22:00', '2026-10-25T23:00', '2026-10-26T23:00'],
  ],
  [
    'Asia/Kolkata',
    '2026-03-28T12:00Z',
    ['2026-03-27T18:30', '2026-03-28T18:30', '2026-03-29T18:30'],
  ],
  // Midnight is skipped: the day starts at 1.
  [
    'Africa/Cairo',
    '2026-04-23T12:00Z',
    ['2026-04-22T22:00', '2026-04-23T22:00', '2026-04-24T21:00'],
  ],
  [
    'America/Santiago',
    '2026-09-05T12:00Z',
    ['2026-09-05T04:00', '2026-09-06T04:00', '2026-09-07T03:00'],
  ],
  // Midnight occurs twice: the day starts at the first.
  [
    'America/Havana',
    '2026-10-31T12:00Z',
    ['2026-10-31T04:00', '2026-11-01T04:00', '2026-11-02T05:00'],
  ],
  [
    'Pacific/Kiritimati',
    '2026-03-28T12:00Z',
    ['2026-03-28T10:00', '2026-03-29T10:00', '2026-03-30T10:00'],
  ],
  [
    'Pacific/Apia',
    '2011-12-29T12:00Z',
    ['2011-12-29T10:00', '2011-12-30T10:00', '2011-12-31T10:00'],
  ],
])('in %s, two days from %s start at local midnights', (timeZone, from, expected) => {
  const to = new Date(Date.parse(from) + 30 * 3_600_000).toISOString()
  expect(steps('day', timeZone, from, to)).toEqual(expected)
})

test('the days of a time zone before 1970 are supported', () => {
  expect(steps('day', 'UTC', '1969-12-31T12:00Z', '1970-01-01T12:00Z')).toEqual([
    ...['1969-12-31T00:00', '1970-01-01T00:00', '1970-01-02T00:00'],
  ])
})

test.each([
  [
    'Europe/Berlin, an hour is omitted',
    ...['Europe/Berlin', '2026-03-29T00:10Z', '2026-03-29T02:00Z'],
    ['2026-03-29T00:00', '2026-03-29T01:00', '2026-03-29T02:00'],
  ],
  [
    'Europe/Berlin, an hour comes twice',
    ...['Europe/Berlin', '2026-10-25T00:10Z', '2026-10-25T02:00Z'],
    ['2026-10-25T00:00', '2026-10-25T01:00', '2026-10-25T02:00'],
  ],
  [
    'Asia/Kathmandu, a quarter past',
    ...['Asia/Kathmandu', '2026-01-01T00:10Z', '2026-01-01T01:00Z'],
    ['2025-12-31T23:15', '2026-01-01T00:15', '2026-01-01T01:15'],
  ],
  [
    'Lord Howe, half an hour comes twice',
    ...['Australia/Lord_Howe', '2026-04-04T13:30Z', '2026-04-04T16:30Z'],
    ['2026-04-04T13:00', '2026-04-04T14:00', '2026-04-04T15:30', '2026-04-04T16:30'],
  ],
  [
    'Lord Howe, half an hour is omitted',
    ...['Australia/Lord_Howe', '2026-10-03T14:40Z', '2026-10-03T16:00Z'],
    ['2026-10-03T14:30', '2026-10-03T15:30', '2026-10-03T16:00'],
  ],
] as [string, string, string, string, string[]][])(
  'the hours of a time zone start as on local clocks: %s',
  (_, timeZone, from, to, expected) => {
    expect(steps('hour', timeZone, from, to)).toEqual(expected)
  },
)

test('there are no steps if they exceed the limit', () => {
  expect(steps('hour', 'UTC', '2026-01-01T00:00Z', '2026-02-11T16:00Z')).toHaveLength(1_001)
  expect(steps('hour', 'UTC', '2026-01-01T00:00Z', '2026-02-11T16:01Z')).toBeUndefined()
  expect(steps('day', 'UTC', '2000-01-01T00:00Z', '2026-02-11T16:01Z')).toBeUndefined()
})

test('an empty range returns the starts of its day and of the next', () => {
  expect(steps('day', 'UTC', '2026-01-01T12:00Z', '2026-01-01T12:00Z')).toEqual([
    '2026-01-01T00:00',
    '2026-01-02T00:00',
  ])
})

test('a time zone is valid if the time zone database has it', () => {
  expect(['Europe/Berlin', 'UTC', 'america/new_york'].map(isTimeZone)).toEqual([true, true, true])
  expect(['Mars/Base', '', 'x'.repeat(99), '../etc'].map(isTimeZone)).toEqual([
    false,
    false,
    false,
    false,
  ])
})

test('hours before 1970 start as on local clocks', () => {
  expect(steps('hour', 'UTC', '1969-12-31T12:10Z', '1969-12-31T13:10Z')).toEqual([
    ...['1969-12-31T12:00', '1969-12-31T13:00', '1969-12-31T14:00'],
  ])
})

test('a clock shows milliseconds', () => {
  const clock = localClock('Asia/Kathmandu')
  expect(clock(Date.parse('2026-01-31T12:30:05.678Z'))).toBe(Date.parse('2026-01-31T18:15:05.678Z'))
  expect(clock(-1)).toBe(-1 + 5.5 * 3_600_000)
})

test('thousands of spellings of a time zone share one formatter, and few zones are cached', () => {
  const made = jest.spyOn(Intl, 'DateTimeFormat')
  try {
    const letters = [...'Pacific/Marquesas']
    for (let spelling = 0; spelling < 4_096; spelling += 1) {
      const zone = letters.map((letter, n) =>
        (spelling >> n) & 1 ? letter.toUpperCase() : letter.toLowerCase(),
      )
      expect(isTimeZone(zone.join(''))).toBe(true)
      localClock(zone.join(''))
    }
    expect(made.mock.calls.length).toBeLessThanOrEqual(1)
    const zones = Intl.supportedValuesOf('timeZone').slice(0, 200)
    for (const zone of zones) localClock(zone)
    made.mockClear()
    // The least recently used are forgotten.
    for (const zone of zones.slice(-64)) localClock(zone)
    expect(made).not.toHaveBeenCalled()
    localClock(zones[0]!)
    expect(made).toHaveBeenCalledTimes(1)
  } finally {
    made.mockRestore()
  }
})

test("a letter that matches a zone's only after lower-casing is rejected", () => {
  isTimeZone('Asia/Kolkata')
  expect(isTimeZone('Asia/\u212aolkata')).toBe(false)
})
