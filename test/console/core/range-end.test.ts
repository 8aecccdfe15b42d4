import { expect, test } from '@jest/globals'
import { endInput, endMoment } from '../../../console/core/range-end.ts'

const VIENNA = 'Europe/Vienna'

test('the end of a range on a day without a time is the end of that day, however long it is', () => {
  const friday = Date.parse('2026-11-20T23:00:00Z')
  expect(endMoment('2026-11-20T', VIENNA)).toBe(friday)
  expect(endInput(friday, VIENNA)).toBe('2026-11-20T')
  const longDay = Date.parse('2026-10-25T23:00:00Z')
  expect(endMoment('2026-10-25T', VIENNA)).toBe(longDay)
  expect(endInput(longDay, VIENNA)).toBe('2026-10-25T')
})

test('the end of a range at a time is that time', () => {
  const at = Date.parse('2026-11-20T13:05:00Z')
  expect(endMoment('2026-11-20T14:05', VIENNA)).toBe(at)
  expect(endInput(at, VIENNA)).toBe('2026-11-20T14:05')
  expect(endMoment('', VIENNA)).toBeUndefined()
})
