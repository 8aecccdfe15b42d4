import { expect, jest, test } from '@jest/globals'
import {
  clockText,
  clockTime24,
  datesText,
  dateText,
  dateTime,
  dayText,
  momentText,
} from '../../../console/core/date-words.ts'

test('a day in words includes the year only if it differs from today’s', () => {
  expect(dayText('2026-11-22', '2026-11-25', 'en-GB')).toBe('Sun 22 Nov')
  expect(dateText('2026-11-02', '2026-11-25', 'en-GB')).toBe('2 Nov')
  expect(dayText('2025-11-22', '2026-11-25', 'en-GB')).toBe('Sat 22 Nov 2025')
})

test('days in words need no new formatter', () => {
  const words = () => dayText('2026-11-22', '2026-11-25', 'en-GB')
  words()
  const making = jest.spyOn(Intl, 'DateTimeFormat')
  words()
  expect(making).not.toHaveBeenCalled()
  making.mockRestore()
})

test.each([
  ['en-GB', 'Wed 25 Nov', '25 Nov 2025', '16 – 22 Nov', '30 Oct – 5 Nov', '16 – 22 Nov 2025'],
  ['de', 'Wed 25 Nov', '25 Nov 2025', '16 – 22 Nov', '30 Oct – 5 Nov', '16 – 22 Nov 2025'],
  ['en-US', 'Wed Nov 25', 'Nov 25, 2025', 'Nov 16 – 22', 'Oct 30 – Nov 5', 'Nov 16 – 22, 2025'],
  ['ja', 'Wed Nov 25', 'Nov 25, 2025', 'Nov 16 – 22', 'Oct 30 – Nov 5', 'Nov 16 – 22, 2025'],
])('the order of %s, with English words', (locale, day, other, week, months, past) => {
  const today = '2026-11-26'
  expect(dayText('2026-11-25', today, locale)).toBe(day)
  expect(dateText('2025-11-25', today, locale)).toBe(other)
  expect(datesText('2026-11-16', '2026-11-22', today, locale)).toBe(week)
  expect(datesText('2026-10-30', '2026-11-05', today, locale)).toBe(months)
  expect(datesText('2025-11-16', '2025-11-22', today, locale)).toBe(past)
})

const words = {
  now: Date.parse('2026-01-31T12:30:05Z'),
  zone: 'Europe/Vienna',
  clock: '24',
  locale: 'en-GB',
} as const

test.each([
  ['2026-01-29T12:00:00Z', 'Thu 29 Jan 13:00'],
  ['2026-01-30T21:24:00Z', 'yesterday 22:24'],
  ['2026-01-31T21:24:00Z', 'today 22:24'],
  ['2026-01-31T23:30:00Z', 'tomorrow 00:30'],
  ['2026-02-01T21:24:00Z', 'tomorrow 22:24'],
  ['2026-02-03T21:24:00Z', 'Tue 3 Feb 22:24'],
  ['2027-02-03T21:24:00Z', 'Wed 3 Feb 2027 22:24'],
  ['never', 'an unknown time'],
])('in Vienna on 31 January 2026, %s is %s', (at, text) => {
  expect(momentText(Date.parse(at), words)).toBe(text)
})

test.each([
  ['2026-01-31T21:24:07Z', 'Sat 31 Jan 22:24', 'Sat Jan 31 10:24:07 pm'],
  ['2025-11-25T13:05:00Z', 'Tue 25 Nov 2025 14:05', 'Tue Nov 25, 2025 2:05:00 pm'],
  ['never', 'an unknown time', 'an unknown time'],
])('%s includes its date although near: %s, in the US %s', (at, text, ofUs) => {
  const ms = Date.parse(at)
  expect(dateTime(ms, words)).toBe(text)
  expect(dateTime(ms, { ...words, clock: '12', locale: 'en-US', hasSeconds: true })).toBe(ofUs)
})

test.each([
  ['00:00', '12:00 am'],
  ['00:59', '12:59 am'],
  ['11:59', '11:59 am'],
  ['12:00', '12:00 pm'],
  ['14:05', '2:05 pm'],
  ['23:59', '11:59 pm'],
])('%s is %s on a clock of 12 hours', (of24, of12) => {
  const ms = Date.parse(`2026-01-31T${of24}:07Z`)
  expect(clockText(ms, 'UTC', '12', false)).toBe(of12)
  expect(clockText(ms, 'UTC', '24', false)).toBe(of24)
  expect(clockText(ms, 'UTC', '12')).toBe(of12.replace(' ', ':07 '))
})

test.each([
  ['14:05', '14:05'],
  ['2:05 pm', '14:05'],
  ['2:05:30 PM', '14:05:30'],
  ['12:00 am', '00:00'],
  ['12 pm', '12:00'],
  ['9.15', '09:15'],
  ['13:00 pm', '13:00 pm'],
  ['noon', 'noon'],
])('the typed time %s is read as %s', (typed, read) => {
  expect(clockTime24(typed)).toBe(read)
})
