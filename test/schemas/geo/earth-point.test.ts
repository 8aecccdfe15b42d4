import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { coordinatesOf, earthPointOf } from '../../../schemas/geo/earth-point.ts'

test('an earth point has the coordinates that it was created from', () => {
  fc.assert(
    fc.property(
      fc.double({ min: -90, max: 90, noNaN: true }),
      fc.double({ min: -180, max: 180, noNaN: true }),
      (latitude, longitude) => {
        const back = coordinatesOf(earthPointOf(latitude, longitude))
        expect(back.latitude).toBeCloseTo(latitude, 7)
        if (Math.abs(latitude) < 89.99) expect(back.longitude).toBeCloseTo(longitude, 7)
        expect(Math.abs(back.longitude)).toBeLessThanOrEqual(180)
      },
    ),
  )
})
