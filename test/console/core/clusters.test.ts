import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import {
  clusterRadius,
  clusters,
  TILE_PIXELS,
  type Cluster,
} from '../../../console/core/clusters.ts'
import { toMercator, type Point } from '../../../console/core/mercator.ts'

const places = fc.record({
  longitude: fc.double({ min: -180, max: 180, noNaN: true }),
  latitude: fc.double({ min: -90, max: 90, noNaN: true }),
})

/** Vans of one town: so near each other that most are in clusters. */
const vans = fc.record({
  longitude: fc.double({ min: 16.3, max: 16.4, noNaN: true }),
  latitude: fc.double({ min: 48.2, max: 48.25, noNaN: true }),
})

function pixelsBetween(one: Point, other: Point, zoom: number): number {
  return Math.hypot(one.x - other.x, one.y - other.y) * TILE_PIXELS * 2 ** Math.floor(zoom)
}

describe('clusters', () => {
  test('clusters hold each device once, in their middle', () => {
    fc.assert(
      fc.property(fc.array(places), fc.double({ min: 0, max: 20, noNaN: true }), (all, zoom) => {
        const devices = all.map(({ longitude, latitude }) => toMercator(longitude, latitude))
        const found = clusters(devices, { zoom })
        expect(new Set(found.flatMap((one) => one.devices))).toEqual(new Set(devices))
        expect(found.reduce((sum, one) => sum + one.devices.length, 0)).toBe(devices.length)
        for (const { x, y, devices: its } of found) {
          const mean = (read: (point: Point) => number) =>
            its.reduce((sum, point) => sum + read(point), 0) / its.length
          expect(x).toBeCloseTo(
            mean((point) => point.x),
            9,
          )
          expect(y).toBeCloseTo(
            mean((point) => point.y),
            9,
          )
        }
      }),
    )
  })

  test('no cluster covers the ring of another one', () => {
    fc.assert(
      fc.property(
        fc.array(vans, { minLength: 50, maxLength: 300 }),
        fc.double({ min: 8, max: 17, noNaN: true }),
        (all, zoom) => {
          const found = clusters(
            all.map(({ longitude, latitude }) => toMercator(longitude, latitude)),
            { zoom },
          ).filter(({ devices }) => devices.length > 1)
          const radius = ({ devices }: Cluster<Point>) => clusterRadius(devices.length)
          for (const [index, one] of found.entries()) {
            for (const other of found.slice(index + 1)) {
              expect(pixelsBetween(one, other, zoom)).toBeGreaterThan(radius(one) + radius(other))
            }
          }
        },
      ),
    )
  })

  test('two devices are a cluster wherever they are near each other, and nowhere else', () => {
    fc.assert(
      fc.property(vans, fc.double({ min: 0, max: 60, noNaN: true }), (place, pixels) => {
        const one = toMercator(place.longitude, place.latitude)
        const other = { ...one, x: one.x + pixels / (TILE_PIXELS * 2 ** 10) }
        const isTogether = clusters([one, other], { zoom: 10 }).length === 1
        expect(isTogether).toBe(pixelsBetween(one, other, 10) < 32)
      }),
    )
  })

  test('clusters stay the same while the zoom is between two whole ones', () => {
    const devices = [toMercator(10, 50), toMercator(10.01, 50), toMercator(12, 51)]
    const shape = (zoom: number) => clusters(devices, { zoom }).map((one) => one.devices.length)
    expect(shape(6).sort()).toEqual([1, 2])
    expect(shape(6.99)).toEqual(shape(6))
    expect(shape(17)).toEqual([1, 1, 1])
  })

  test('clusters leave the selected device alone, above the others', () => {
    const devices = Array.from({ length: 50 }, () => toMercator(10, 50))
    const alone = devices[7]
    const found = clusters(devices, { zoom: 18, alone })
    expect(found.map((one) => one.devices.length)).toEqual([49, 1])
    expect(found.at(-1)?.devices).toEqual([alone])
  })

  test('clusters take the poles, 180° and (0, 0)', () => {
    const devices = [
      ...[toMercator(0, 90), toMercator(0, -90), toMercator(180, 0), toMercator(-180, 0)],
      toMercator(0, 0),
    ]
    expect(clusters(devices, { zoom: 10 })).toHaveLength(5)
  })
})
