import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { scaleFor } from '../../../console/core/scale.ts'

test.each([
  [156_543, { text: '10000 km', pixels: 64 }],
  [76.4, { text: '5 km', pixels: 65 }],
  [0.6, { text: '50 m', pixels: 83 }],
])('where a pixel is %d m long the scale is %j', (metresPerPixel, scale) => {
  expect(scaleFor(metresPerPixel)).toEqual(scale)
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
