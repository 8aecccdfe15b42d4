import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { Coordinates } from '../../../schemas/geo/distance.ts'
import { GeofenceIndex, prepareGeofence } from '../../../schemas/geo/geofence-index.ts'
import type { Geofence, GeofenceShape } from '../../../schemas/definitions/geofence.ts'
import { T0 } from '../../samples.ts'
import { at, definitions, DEGREE_METRES, geofence, HOME, JudgedDevice } from './judging.ts'

function circle(radius: number, north = 0): GeofenceShape {
  const latitude = HOME.latitude + north / DEGREE_METRES
  return { type: 'circle', latitude, longitude: HOME.longitude, radius }
}

/** The larger has the smaller id. */
function around(count: number, radius = 1_000, north = 0): Geofence[] {
  const circles = Array.from({ length: count }, (_, n) =>
    geofence({ shape: circle(radius + (count - n), north) }),
  )
  return circles.reverse()
}

const idsOf = (geofences: readonly Geofence[]) => geofences.map(({ id }) => id).sort()

test('of more geofences around a position, the 100 smallest count, with ties broken by id', () => {
  const nested = around(150)
  const same = Array.from({ length: 150 }, () => geofence({ shape: circle(500) }))
  const device = new JudgedDevice(definitions({ geofences: nested }))
  expect(device.judge(at(0))).toHaveLength(100)
  expect(device.inside.sort()).toEqual(idsOf(nested.slice(0, 100)))
  const other = new JudgedDevice(definitions({ geofences: [...same, ...nested] }))
  other.judge(at(0))
  expect(other.inside.sort()).toEqual(idsOf(same).slice(0, 100))
})

test("a geofence's size is its area: a long field is smaller than a circle of its length, and a hole reduces it", () => {
  const [south, west] = [HOME.latitude - 0.01, HOME.longitude - 0.2]
  const ring = (metres: number): GeofenceShape & { type: 'Polygon' } => {
    const north = south + metres / DEGREE_METRES
    const east = west + 0.4
    const corners = [west, south, east, south, east, north, west, north, west, south]
    return {
      type: 'Polygon',
      coordinates: [Array.from({ length: 5 }, (_, n) => [corners[2 * n]!, corners[2 * n + 1]!])],
    }
  }
  const field = geofence({ shape: ring(4_000) })
  const hole = ring(900).coordinates[0]!
  const holed = geofence({
    shape: { type: 'Polygon', coordinates: [...ring(4_000).coordinates, hole] },
  })
  const large = geofence({ shape: circle(10_000) })
  const others = around(98)
  const device = new JudgedDevice(definitions({ geofences: [large, field, holed, ...others] }))
  device.judge(at(0))
  expect(device.inside.sort()).toEqual(idsOf([holed, field, ...others]))
})

test('a geofence counts until the device leaves it: smaller ones created later cause neither exit nor entry', () => {
  const [region, ...nested] = around(101).reverse()
  const device = new JudgedDevice(definitions({ geofences: [region!] }))
  expect(device.judge(at(0))).toHaveLength(1)
  const later = nested.map((one) => ({ ...one, inForceSince: T0 + 10_000 }))
  device.definitions = definitions({ geofences: [region!, ...later] })
  expect(device.judge(at(60), at(120))).toEqual([])
  expect(device.inside).toHaveLength(100)
  expect(device.inside).toContain(region!.id)
  expect(device.judge(at(180, { north: 9_000 }))).toHaveLength(100)
  expect(device.inside).toEqual([])
})

test('a geofence that counts again, and was around the device all the time, is not entered', () => {
  const region = geofence({ shape: circle(5_000) })
  const nested = around(100, 500)
  const device = new JudgedDevice(definitions({ geofences: [region, ...nested] }))
  expect(device.judge(at(0))).toHaveLength(100)
  expect(device.inside).not.toContain(region.id)
  const lefts = device.judge(at(60, { north: 2_000 }))
  expect(lefts.every((told) => told.startsWith('left'))).toBe(true)
  expect(lefts).toHaveLength(100)
  expect(device.inside).toEqual([region.id])
  expect(device.decide(at(120, { north: 8_000 }))).toMatchObject([
    { type: 'geofence.left', geofence: { id: region.id }, enteredAt: null },
  ])
})

test('a device waiting to enter 100 geofences waits for no more and enters no others', () => {
  const waiting = around(120).map((one) => ({ ...one, confirmSeconds: 60 }))
  const region = geofence({ shape: circle(5_000) })
  const device = new JudgedDevice(definitions({ geofences: [region, ...waiting] }))
  expect(device.judge(at(0), at(30))).toEqual([])
  expect(Object.keys(device.state?.geofences.standings ?? {})).toHaveLength(100)
  expect(device.judge(at(90))).toHaveLength(100)
})

/** A simple model of which geofences count at each position, from the positions alone. */
test('crowding out never causes a fact: a device enters and leaves each geofence as if alone, or is in it silently', () => {
  const spots = [0, 1_500, 3_000]
  const known = [
    ...spots.flatMap((north) => around(60, 900, north)),
    ...spots.map((north) => geofence({ shape: circle(1_600, north) })),
    ...Array.from({ length: 30 }, (_, n) => geofence({ shape: circle(4_000 + n) })),
  ]
  const judged = definitions({ geofences: known })
  const byName = new Map(known.map((one) => [one.id, one]))
  const metres = fc.constantFrom(-9_000, -1_200, 0, 700, 800, 1_500, 2_200, 2_300, 3_000, 9_000)
  fc.assert(
    fc.property(fc.array(metres, { minLength: 1, maxLength: 12 }), (norths) => {
      const device = new JudgedDevice(judged)
      let held = new Set<string>()
      for (const [n, north] of norths.entries()) {
        const isIn = (one: Geofence, place = north) =>
          one.shape.type === 'circle' && metresTo(one.shape, place) <= one.shape.radius
        const lefts = [...held].filter((id) => !isIn(byName.get(id)!))
        const kept = [...held].filter((id) => !lefts.includes(id))
        const taken = known
          .filter((one) => isIn(one) && !held.has(one.id))
          .sort((a, b) => radiusOf(a) - radiusOf(b) || (a.id < b.id ? -1 : 1))
          .slice(0, 100 - kept.length)
        const before = norths[n - 1]
        const enters = taken.filter((one) => before === undefined || !isIn(one, before))
        expect(device.judge(at(n * 60, { north }))).toEqual([
          ...lefts.sort().map((id) => `left ${id} @${n * 60}`),
          ...idsOf(enters).map((id) => `entered ${id} @${n * 60}`),
        ])
        held = new Set([...kept, ...idsOf(taken)])
        expect(new Set(device.inside)).toEqual(held)
        expect(JSON.stringify(device.state).length).toBeLessThan(10_000)
      }
    }),
    { numRuns: 60 },
  )
})

function radiusOf({ shape }: Geofence): number {
  return shape.type === 'circle' ? shape.radius : 0
}

function metresTo({ latitude }: { latitude: number }, north: number): number {
  return Math.abs((latitude - HOME.latitude) * DEGREE_METRES - north)
}

test('few of 10 000 geofences around a position are checked, and the state stays small', () => {
  const crowd = [...around(5_000, 500), ...around(5_000, 500).map(waiting)]
  let looks = 0
  const counted = crowd.map(prepareGeofence).map(({ areas, ...one }) => ({
    ...one,
    areas: areas.map((area) => ({
      ...area,
      contains(place: Coordinates) {
        looks += 1
        return area.contains(place)
      },
    })),
  }))
  const known = definitions()
  const index = new GeofenceIndex(counted)
  const device = new JudgedDevice({ ...known, geofences: { ...known.geofences, index } })
  for (let n = 0; n <= 20; n += 1) {
    looks = 0
    const told = device.judge(at(n * 60, { north: n % 4 === 3 ? 20_000 : 0 }))
    expect(told.length).toBeLessThanOrEqual(100)
    expect(looks).toBeLessThan(1_000)
    expect(Object.keys(device.state?.geofences.standings ?? {}).length).toBeLessThanOrEqual(100)
    expect(JSON.stringify(device.state).length).toBeLessThan(50_000)
  }
})

function waiting(one: Geofence): Geofence {
  return { ...one, confirmSeconds: 60 }
}
