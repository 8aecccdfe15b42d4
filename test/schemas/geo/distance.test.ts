import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { FARTHEST_METRES, metresBetween } from '../../../schemas/geo/distance.ts'
import { distance, earthPointOf } from '../../../schemas/geo/earth-point.ts'

const anywhere = fc.record({
  latitude: fc.double({ min: -90, max: 90, noNaN: true }),
  longitude: fc.double({ min: -180, max: 180, noNaN: true }),
})

test('distances follow the sphere', () => {
  const quarter = metresBetween({ latitude: 0, longitude: 0 }, { latitude: 90, longitude: 0 })
  expect(quarter / 1_000).toBeCloseTo(10_007.6, 0)
  expect(
    metresBetween({ latitude: 0, longitude: 179.9 }, { latitude: 0, longitude: -179.9 }),
  ).toBeLessThan(23_000)
})

test('the distance between two earth points equals the distance between their coordinates', () => {
  fc.assert(
    fc.property(anywhere, anywhere, (a, b) => {
      const metres = metresBetween(a, b)
      expect(metres).toBeLessThanOrEqual(FARTHEST_METRES)
      const [one, other] = [
        earthPointOf(a.latitude, a.longitude),
        earthPointOf(b.latitude, b.longitude),
      ]
      // Rounding matters most at antipodes, where the sine is flat.
      expect(Math.abs(distance(one, other) - metres)).toBeLessThan(1)
    }),
  )
})
