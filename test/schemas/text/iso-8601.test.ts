import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { isoTime, parseIso8601 } from '../../../schemas/text/iso-8601.ts'

describe('ISO 8601', () => {
  test.each([
    ['2026-01-31T12:30:15Z', '2026-01-31T12:30:15.000Z'],
    ['2026-01-31t12:30:15z', '2026-01-31T12:30:15.000Z'],
    ['2026-01-31T12:30Z', '2026-01-31T12:30:00.000Z'],
    ['2026-01-31T12:30:15.5Z', '2026-01-31T12:30:15.500Z'],
    ['2026-01-31T12:30:15,123456789Z', '2026-01-31T12:30:15.123Z'],
    ['2026-01-31T12:30:15', '2026-01-31T12:30:15.000Z'],
    ['2026-01-31T12:30:15+02', '2026-01-31T10:30:15.000Z'],
    ['2026-01-31T12:30:15+0230', '2026-01-31T10:00:15.000Z'],
    ['2026-01-31T12:30:15-02:30', '2026-01-31T15:00:15.000Z'],
    ['20260131T123015Z', '2026-01-31T12:30:15.000Z'],
    ['20260131T1230-0700', '2026-01-31T19:30:00.000Z'],
    ['20260131T123015.25', '2026-01-31T12:30:15.250Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['2000-02-29T00:00:00Z', '2000-02-29T00:00:00.000Z'],
    ['0050-03-01T00:00:00Z', '0050-03-01T00:00:00.000Z'],
    ['2026-12-31T23:59:59-23:59', '2027-01-01T23:58:59.000Z'],
  ])('%s is read as %s', (text, expected) => {
    expect(new Date(parseIso8601(text) ?? NaN).toISOString()).toBe(expected)
  })

  test.each([
    '2026-02-30T00:00:00Z',
    '2023-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T23:60:00Z',
    '2026-01-01T23:59:60Z',
    '2026-01-01T12:00:00+24:00',
    '2026-01-01T12:00:00+02:60',
    '2026-01-01',
    '20260101',
    '2026-01-01 12:00:00',
    '2026-W01-1T12:00:00Z',
    '2026-001T12:00:00Z',
    '2026-01-01T120000Z',
    '20260101T12:00:00Z',
    '2026-01-01T12Z',
    '2026-01-01T12:00:00.Z',
    '2026-01-01T12:00:00Z ',
    '+002026-01-01T12:00:00Z',
    '1769862615',
    'Sat, 31 Jan 2026 12:30:15 GMT',
    '',
  ])('%s is not a date and time', (text) => {
    expect(parseIso8601(text)).toBeUndefined()
  })

  test('every time that JavaScript writes is read back to the millisecond', () => {
    const moments = fc.date({
      min: new Date('0000-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59.999Z'),
      noInvalidDate: true,
    })
    fc.assert(
      fc.property(moments, (moment) => {
        expect(parseIso8601(moment.toISOString())).toBe(moment.getTime())
        const basic = moment.toISOString().replace(/[-:]/g, '')
        expect(parseIso8601(basic)).toBe(moment.getTime())
      }),
      { numRuns: 1_000 },
    )
  })

  test('the common form is read like its equivalents', () => {
    const digits = (most: number, length: number) =>
      fc.integer({ min: 0, max: most }).map((number) => String(number).padStart(length, '0'))
    const parts = fc.tuple(
      fc.oneof(digits(9_999, 4), fc.constantFrom('1900', '2000', '2023', '2024')),
      digits(13, 2),
      fc.oneof(digits(32, 2), fc.constantFrom('28', '29', '30', '31')),
      digits(25, 2),
      digits(61, 2),
      digits(61, 2),
      fc.oneof(
        fc.constant(''),
        digits(999, 3).map((text) => `.${text}`),
      ),
    )
    fc.assert(
      fc.property(parts, ([year, month, day, hour, minute, second, fraction]) => {
        const text = `${year}-${month}-${day}T${hour}:${minute}:${second}${fraction}`
        expect(parseIso8601(`${text}Z`)).toBe(parseIso8601(`${text}+00:00`))
      }),
      { numRuns: 5_000 },
    )
  })
})

test('a time is written exactly as the engine writes it', () => {
  const furthest = 8.64e15
  const times = fc.oneof(
    fc.integer({ min: -furthest, max: furthest }),
    fc.integer({ min: 1_767_225_600_000, max: 1_767_225_600_000 + 3 * 86_400_000 }),
    fc.double({ min: -furthest, max: furthest, noNaN: true }),
    fc.constantFrom(-1, 0, -0, 86_399_999, 86_400_000, 253_402_300_799_999, 253_402_300_800_000),
  )
  fc.assert(
    fc.property(times, (time) => {
      expect(isoTime(time)).toBe(new Date(time).toISOString())
    }),
    { numRuns: 2_000 },
  )
  expect(() => isoTime(NaN)).toThrow(RangeError)
  expect(() => isoTime(Infinity)).toThrow(RangeError)
})
