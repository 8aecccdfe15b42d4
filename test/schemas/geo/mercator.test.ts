import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { mercatorToDegrees, metre, toMercator } from '../../../schemas/geo/mercator.ts'

const places = fc.record({
  longitude: fc.double({ min: -180, max: 180, noNaN: true }),
  latitude: fc.double({ min: -90, max: 90, noNaN: true }),
})

test('a position comes back from Web Mercator unchanged', () => {
  fc.assert(
    fc.property(places, ({ longitude, latitude }) => {
      const back = mercatorToDegrees(toMercator(longitude, latitude))
      expect(back.longitude).toBeCloseTo(longitude, 8)
      expect(back.latitude).toBeCloseTo(Math.max(-85.0511, Math.min(85.0511, latitude)), 3)
    }),
  )
})

test('a metre gets longer on Web Mercator away from the equator', () => {
  expect(metre(toMercator(0, 0))).toBeCloseTo(1 / 40_075_016.7, 12)
  expect(metre(toMercator(0, 60)) / metre(toMercator(0, 0))).toBeCloseTo(2, 3)
})
