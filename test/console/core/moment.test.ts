import { expect, test } from '@jest/globals'
import { momentOf, momentInAddress } from '../../../console/core/moment.ts'

test.each([
  ['14:05', 'UTC', '2026-11-22T14:05:00.999Z'],
  ['14:05:55', 'UTC', '2026-11-22T14:05:55.999Z'],
  ['2026-11-20T14:05', 'UTC', '2026-11-20T14:05:00.999Z'],
  ['00:00', 'Europe/Vienna', '2026-11-21T23:00:00.999Z'],
])('%s in %s is the end of that second', (text, zone, moment) => {
  expect(new Date(momentOf(text, '2026-11-22', zone) ?? 0).toISOString()).toBe(moment)
})

test.each(['', '24:00', '1:05', '14:60', 'noon', '14:05:55.5', '2026-02-30T10:00'])(
  '%p is no moment',
  (text) => {
    expect(momentOf(text, '2026-11-22', 'UTC')).toBeUndefined()
  },
)

test('a moment has its day only where several days are shown', () => {
  const at = Date.parse('2026-11-22T23:30:05Z')
  const [day, other] = ['2026-11-22', '2026-11-23']
  expect(momentInAddress(at, { first: day, last: day }, 'UTC')).toBe('23:30:05')
  expect(momentInAddress(at, { first: day, last: other }, 'Europe/Vienna')).toBe(
    '2026-11-23T00:30:05',
  )
})
