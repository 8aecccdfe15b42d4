import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { clusters } from '../../../console/core/clusters.ts'
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
