import { expect, test } from '@jest/globals'
import { momentOf } from '../../../console/core/moment.ts'

test.each([
  ['14:05', 'UTC', '2026-11-22T14:05:00.999Z'],
  ['14:05:55', 'UTC', '2026-11-22T14:05:55.999Z'],
  ['00:00', 'Europe/Vienna', '2026-11-21T23:00:00.999Z'],
])('%s in %s is the end of that second', (text, zone, moment) => {
  expect(new Date(momentOf('2026-11-22', text, zone) ?? 0).toISOString()).toBe(moment)
})

test.each(['', '24:00', '1:05', '14:60', 'noon', '14:05:55.5'])('%p is no moment', (text) => {
  expect(momentOf('2026-11-22', text, 'UTC')).toBeUndefined()
})
