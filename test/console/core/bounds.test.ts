import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { boundsOf, isOneSpot } from '../../../console/core/bounds.ts'
import { toMercator } from '../../../schemas/geo/mercator.ts'

const places = fc.record({
  longitude: fc.double({ min: -180, max: 180, noNaN: true }),
  latitude: fc.double({ min: -90, max: 90, noNaN: true }),
})

describe('a single spot', () => {
  test('devices that no zoom separates form a single spot', () => {
    expect(isOneSpot([toMercator(10, 50), toMercator(10, 50)], { maxZoom: 19 })).toBe(true)
    expect(isOneSpot([toMercator(10, 50), toMercator(10.001, 50)], { maxZoom: 19 })).toBe(false)
  })
})

describe('bounds that contain all points', () => {
  test('the bounds go across 180° where that is shorter', () => {
    const box = boundsOf([toMercator(179, 10), toMercator(-179, -10)])
    expect(box?.west).toBeCloseTo(toMercator(179, 0).x)
    expect(box?.east).toBeCloseTo(toMercator(-179, 0).x + 1)
  })

  test('the bounds of a single point are that point; without points there are none', () => {
    const { x, y } = toMercator(10, 50)
    expect(boundsOf([{ x, y }])).toEqual({ west: x, east: x, north: y, south: y })
    expect(boundsOf([])).toBeUndefined()
  })

  test('the bounds hold every point', () => {
    fc.assert(
      fc.property(fc.array(places, { minLength: 1 }), (all) => {
        const points = all.map(({ longitude, latitude }) => toMercator(longitude, latitude))
        const box = boundsOf(points)
        for (const { x, y } of points) {
          const within = [x, x + 1].some(
            (one) => one >= (box?.west ?? 2) - 1e-12 && one <= (box?.east ?? -1) + 1e-12,
          )
          expect(within).toBe(true)
          expect(y >= (box?.north ?? 1) && y <= (box?.south ?? 0)).toBe(true)
        }
      }),
    )
  })
})
