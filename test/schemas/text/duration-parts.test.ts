import { expect, test } from '@jest/globals'
import { durationParts, durationText } from '../../../schemas/text/duration-parts.ts'

test.each([
  [0, '0 s'],
  [-3, '0 s'],
  [59.4, '59 s'],
  [59.6, '1 min'],
  [720, '12 min'],
  [3_600, '1 h'],
  [7_800, '2 h 10 min'],
  [47 * 3_600, '47 h'],
  [2 * 86_400, '2 d'],
  [3 * 86_400 + 4 * 3_600 + 1_700, '3 d 4 h'],
  [400 * 86_400, '400 d'],
])('%d seconds are %s', (seconds, text) => {
  expect(durationText(seconds)).toBe(text)
})

test('a duration that rounds up to two days has no zero part', () => {
  expect(durationParts(2 * 86_400 - 1)).toEqual([[2, 'day']])
})
