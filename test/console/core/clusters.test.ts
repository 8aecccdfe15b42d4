import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { boundsOf, clusters, isOneSpot } from '../../../console/core/clusters.ts'
import { fromMercator, toMercator } from '../../../console/core/mercator.ts'

type Device = { x: number; y: number; status: 'online' | 'idle' | 'offline' | 'disabled' }

const device = (longitude: number, latitude: number, status: Device['status'] = 'online') => ({
  ...toMercator(longitude, latitude),
  status,
})

const places = fc.record({
  longitude: fc.double({ min: -180, max: 180, noNaN: true }),
  latitude: fc.double({ min: -90, max: 90, noNaN: true }),
})

describe('clusters', () => {
  test('clusters hold each device once, and their numbers add up', () => {
    fc.assert(
      fc.property(fc.array(places), fc.double({ min: 0, max: 20, noNaN: true }), (all, zoom) => {
        const devices = all.map(({ longitude, latitude }, index) =>
          device(longitude, latitude, index % 2 === 0 ? 'online' : 'offline'),
        )
        const found = clusters(devices, { zoom })
        expect(new Set(found.flatMap((one) => one.devices))).toEqual(new Set(devices))
        expect(found.reduce((sum, one) => sum + one.devices.length, 0)).toBe(devices.length)
        for (const { devices: its, online } of found) {
          expect(online).toBe(its.filter(({ status }) => status === 'online').length)
        }
      }),
    )
  })

  test('clusters stay the same while the zoom is between two whole ones', () => {
    const devices = [device(10, 50), device(10.01, 50), device(12, 51)]
    const shape = (zoom: number) => clusters(devices, { zoom }).map((one) => one.devices.length)
    expect(shape(6)).toEqual([2, 1])
    expect(shape(6.99)).toEqual(shape(6))
    expect(shape(17)).toEqual([1, 1, 1])
  })

  test('clusters are in the middle of their devices', () => {
    const [one] = clusters([device(10, 0), device(10.2, 0)], { zoom: 3 })
    expect(fromMercator(one ?? { x: 0, y: 0 }).longitude).toBeCloseTo(10.1)
  })

  test('clusters leave the selected device alone, above the others', () => {
    const devices = Array.from({ length: 50 }, () => device(10, 50))
    const alone = devices[7]
    const found = clusters(devices, { zoom: 18, alone })
    expect(found.map((one) => one.devices.length)).toEqual([49, 1])
    expect(found.at(-1)?.devices).toEqual([alone])
  })

  test('clusters take the poles, 180° and (0, 0)', () => {
    const devices = [device(0, 90), device(0, -90), device(180, 0), device(-180, 0), device(0, 0)]
    const found = clusters(devices, { zoom: 10 })
    expect(found).toHaveLength(5)
    for (const { x, y } of found) {
      expect(x).toBeGreaterThanOrEqual(0)
      expect(x).toBeLessThanOrEqual(1)
      expect(y).toBeGreaterThanOrEqual(0)
      expect(y).toBeLessThanOrEqual(1)
    }
  })
})

describe('one spot', () => {
  test('devices that no zoom tells apart are one spot', () => {
    expect(isOneSpot([device(10, 50), device(10, 50)], { maxZoom: 19 })).toBe(true)
    expect(isOneSpot([device(10, 50), device(10.001, 50)], { maxZoom: 19 })).toBe(false)
  })
})

describe('the part of the world that holds all', () => {
  test('the bounds go across 180° where that is shorter', () => {
    const box = boundsOf([device(179, 10), device(-179, -10)])
    expect(box?.west).toBeCloseTo(toMercator(179, 0).x)
    expect(box?.east).toBeCloseTo(toMercator(-179, 0).x + 1)
  })

  test('the bounds are the point itself for one, and nothing for none', () => {
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
