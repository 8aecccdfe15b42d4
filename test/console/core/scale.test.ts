import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { METRIC, type Units } from '../../../console/core/measures.ts'
import { scaleFor } from '../../../console/core/scale.ts'

const ENGLISH: Units = { ...METRIC, locale: 'en' }

test.each([
  [156_543, { text: '10,000 km', pixels: 64 }],
  [76.4, { text: '5 km', pixels: 65 }],
  [0.6, { text: '50 m', pixels: 83 }],
])('where a pixel is %d m long the scale is %j', (metresPerPixel, scale) => {
  expect(scaleFor(metresPerPixel, ENGLISH)).toEqual(scale)
})

test.each([
  [76.4, { text: '5 mi', pixels: 105 }],
  [0.6, { text: '200 ft', pixels: 102 }],
])('in feet and miles, where a pixel is %d m long it is %j', (metresPerPixel, scale) => {
  expect(scaleFor(metresPerPixel, { ...ENGLISH, length: 'feet' })).toEqual(scale)
})

test('a scale is never wider than 110 pixels, nor shorter than a third of that', () => {
  fc.assert(
    fc.property(fc.double({ min: 0.01, max: 200_000, noNaN: true }), (metresPerPixel) => {
      const { pixels } = scaleFor(metresPerPixel)
      expect(pixels).toBeLessThanOrEqual(110)
      expect(pixels).toBeGreaterThanOrEqual(36)
    }),
  )
})
