import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import {
  clusterRadius,
  clusters,
  TILE_PIXELS,
  RING_STEPS,
  statusRing,
  moveAside,
  type Cluster,
} from '../../../console/core/clusters.ts'
import { toMercator, type MapPoint } from '../../../schemas/geo/mercator.ts'

const places = fc.record({
  longitude: fc.double({ min: -180, max: 180, noNaN: true }),
  latitude: fc.double({ min: -90, max: 90, noNaN: true }),
})

/** Vans of one town, so close together that most are in clusters. */
const vans = fc.record({
  longitude: fc.double({ min: 16.3, max: 16.4, noNaN: true }),
  latitude: fc.double({ min: 48.2, max: 48.25, noNaN: true }),
})

/** On both sides of 180°, some metres or kilometres from it. */
const atTheEdge = places.map(({ longitude, latitude }) => ({
  latitude,
  longitude: longitude > 0 ? 180 - longitude / 1_000 : -180 - longitude / 1_000,
}))

/** On the shorter of the two ways around the world, at the zoom level that clusters are made for. */
function pixelsBetween(one: MapPoint, other: MapPoint, zoom: number): number {
  const across = one.x - other.x
  const away = Math.hypot(across - Math.round(across), one.y - other.y)
  return away * TILE_PIXELS * 2 ** Math.floor(zoom + 1e-6)
}

describe('clusters', () => {
  test('each device is in one cluster, drawn at the middle of its devices', () => {
    fc.assert(
      fc.property(fc.array(places), fc.double({ min: 0, max: 20, noNaN: true }), (all, zoom) => {
        const devices = all.map(({ longitude, latitude }) => toMercator(longitude, latitude))
        const found = clusters(devices, { zoom })
        expect(new Set(found.flatMap((one) => one.devices))).toEqual(new Set(devices))
        expect(found.reduce((sum, one) => sum + one.devices.length, 0)).toBe(devices.length)
        for (const { x, y, devices: its } of found) {
          const mean = (read: (point: MapPoint) => number) =>
            its.reduce((sum, point) => sum + read(point), 0) / its.length
          // Each device may lie a different number of turns around the world.
          const ways = (x - mean((point) => point.x)) * its.length
          expect(ways).toBeCloseTo(Math.round(ways), 6)
          expect(y).toBeCloseTo(
            mean((point) => point.y),
            9,
          )
        }
      }),
    )
  })

  test('no cluster covers the ring of another', () => {
    fc.assert(
      fc.property(
        fc.array(vans, { minLength: 50, maxLength: 300 }),
        fc.double({ min: 8, max: 17, noNaN: true }),
        (all, zoom) => {
          const found = clusters(
            all.map(({ longitude, latitude }) => toMercator(longitude, latitude)),
            { zoom },
          ).filter(({ devices }) => devices.length > 1)
          const radius = ({ devices }: Cluster<MapPoint>) => clusterRadius(devices.length)
          for (const [index, one] of found.entries()) {
            for (const other of found.slice(index + 1)) {
              expect(pixelsBetween(one, other, zoom)).toBeGreaterThan(radius(one) + radius(other))
            }
          }
        },
      ),
    )
  })

  test('two devices form a cluster wherever they are near each other, and nowhere else', () => {
    const pixels = fc.double({ min: 0, max: 60, noNaN: true })
    fc.assert(
      fc.property(fc.oneof(vans, places, atTheEdge), pixels, (place, away) => {
        const one = toMercator(place.longitude, place.latitude)
        const x = one.x + away / (TILE_PIXELS * 2 ** 10)
        const other = { ...one, x: x > 1 ? x - 1 : x }
        const isTogether = clusters([one, other], { zoom: 10 }).length === 1
        expect(isTogether).toBe(pixelsBetween(one, other, 10) < 32)
      }),
    )
  })

  test('devices on both sides of 180° form one cluster between them', () => {
    const devices = [toMercator(179.9, -17), toMercator(-179.9, -17), toMercator(-179.8, -17)]
    const found = clusters(devices, { zoom: 5 })
    expect(found.map((one) => one.devices.length)).toEqual([3])
    const middle = toMercator(-179.9 - 0.1 / 3, -17)
    for (const one of found) expect(pixelsBetween(one, middle, 5)).toBeLessThan(0.01)
  })

  test('clusters stay the same between two whole zoom levels', () => {
    const devices = [toMercator(10, 50), toMercator(10.01, 50), toMercator(12, 51)]
    const shape = (zoom: number) => clusters(devices, { zoom }).map((one) => one.devices.length)
    expect(shape(6).sort()).toEqual([1, 2])
    expect(shape(6.99)).toEqual(shape(6))
    expect(shape(17)).toEqual([1, 1, 1])
  })

  test('clusters exclude the selected device, which is drawn above the others', () => {
    const devices = Array.from({ length: 50 }, () => toMercator(10, 50))
    const alone = devices[7]
    const found = clusters(devices, { zoom: 18, alone })
    expect(found.map((one) => one.devices.length)).toEqual([49, 1])
    expect(found.at(-1)?.devices).toEqual([alone])
  })

  test('clusters work at the poles, (0, 0) and 180°, which is the same from east and west', () => {
    const devices = [
      ...[toMercator(0, 90), toMercator(0, -90), toMercator(180, 0), toMercator(-180, 0)],
      toMercator(0, 0),
    ]
    expect(clusters(devices, { zoom: 10 })).toHaveLength(4)
  })
})

const statuses = fc.constantFrom('online', 'idle', 'offline', 'disabled' as const)
const devices = (...all: readonly ('online' | 'idle' | 'offline' | 'disabled')[]) =>
  all.map((status) => ({ status }))

test('a ring is complete, and shows exactly the statuses of its devices', () => {
  fc.assert(
    fc.property(fc.array(statuses, { minLength: 1, maxLength: 500 }), (all) => {
      const ring = statusRing(devices(...all))
      expect(ring.reduce((sum, { steps }) => sum + steps, 0)).toBe(RING_STEPS)
      expect(new Set(ring.map(({ status }) => status))).toEqual(new Set(all))
      for (const { steps } of ring) expect(steps).toBeGreaterThan(0)
    }),
  )
})

test('the parts of a ring are proportional to the statuses', () => {
  fc.assert(
    fc.property(fc.array(statuses, { minLength: 48, maxLength: 500 }), (all) => {
      for (const { status, steps } of statusRing(devices(...all))) {
        const share = all.filter((one) => one === status).length / all.length
        expect(Math.abs(steps - share * RING_STEPS)).toBeLessThanOrEqual(1)
      }
    }),
  )
})

test('one device offline among many online is visible', () => {
  const all = [...Array.from({ length: 999 }, () => 'online' as const), 'offline' as const]
  expect(statusRing(devices(...all))).toEqual([
    { status: 'online', steps: RING_STEPS - 1 },
    { status: 'offline', steps: 1 },
  ])
})

test.each([
  ['too near', { x: 3, y: 4 }, { x: 6, y: 8 }],
  ['far enough', { x: 30, y: 4 }, { x: 30, y: 4 }],
  ['at the same spot', { x: 0, y: 0 }, { x: -10, y: 0 }],
])('a spot that is %s', (_, spot, moved) => {
  expect(moveAside(spot, { x: 0, y: 0 }, 10)).toEqual(moved)
})
