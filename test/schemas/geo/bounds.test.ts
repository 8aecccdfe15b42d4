import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { Bounds } from '../../../schemas/geo/bounds.ts'

function boundsOf(...places: readonly (readonly [latitude: number, longitude: number])[]) {
  const bounds = new Bounds()
  for (const [latitude, longitude] of places) bounds.add(latitude, longitude)
  return bounds.box()
}

test('the bounds are the smallest box, even across the 180th meridian', () => {
  expect(boundsOf()).toBeNull()
  expect(boundsOf([1, 2])).toEqual({ west: 2, south: 1, east: 2, north: 1 })
  expect(boundsOf([1, -10], [-3, 20])).toEqual({ west: -10, south: -3, east: 20, north: 1 })
  expect(boundsOf([1, 179], [1, -170])).toEqual({ west: 179, south: 1, east: -170, north: 1 })
  expect(boundsOf([1, -180], [1, 180])).toEqual({ west: 180, south: 1, east: -180, north: 1 })
})

test('the bounds of points around the world exclude the widest gap', () => {
  const box = boundsOf([0, -10], [0, 10], [0, 170], [0, -170])
  expect(width(box)).toBe(200)
  expect(boundsOf([0, -100], [0, 100], [0, -170])).toEqual({
    west: 100,
    south: 0,
    east: -100,
    north: 0,
  })
})

test('the bounds of any points contain them all, and no smaller box does', () => {
  const longitude = fc.oneof(
    fc.double({ min: -180, max: 180, noNaN: true }),
    fc.constantFrom(-180, 180, -0, 0, 5e-324, -5e-324, 179.9999999, -179.9999999),
  )
  fc.assert(
    fc.property(fc.array(longitude, { minLength: 1, maxLength: 9 }), (longitudes) => {
      const box = boundsOf(...longitudes.map((one) => [0, one] as const))
      for (const one of longitudes) {
        const east = box === null ? NaN : fromWest(box.west, one)
        expect(east).toBeLessThanOrEqual(width(box))
      }
      const sorted = [...longitudes].sort((a, b) => a - b)
      const gaps = sorted.map((one, n) => {
        const next = sorted[n + 1] ?? (sorted[0] ?? 0) + 360
        return next - one
      })
      expect(width(box)).toBeCloseTo(360 - Math.max(...gaps), 9)
    }),
  )
})

function width(box: ReturnType<typeof boundsOf>): number {
  return box === null ? NaN : fromWest(box.west, box.east)
}

function fromWest(west: number, longitude: number): number {
  return longitude < west ? longitude + 360 - west : longitude - west
}
