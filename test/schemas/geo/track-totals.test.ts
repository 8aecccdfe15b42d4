import { expect, test } from '@jest/globals'
import { earthPointOf } from '../../../schemas/geo/earth-point.ts'
import { TrackTotals } from '../../../schemas/geo/track-totals.ts'
import { T0 } from '../../samples.ts'

type Report = {
  readonly timestamp: number
  readonly latitude: number
  readonly longitude: number
  readonly speed?: number
}

function totals(...reports: readonly Report[]) {
  const made = new TrackTotals()
  for (const { timestamp, latitude, longitude, speed = null } of reports) {
    const place = earthPointOf(latitude, longitude)
    made.add({ timestamp, latitude, longitude, speed }, place)
  }
  return made
}

const at = (
  seconds: number,
  latitude: number,
  longitude: number,
  more: Pick<Report, 'speed'> = {},
): Report => ({
  timestamp: T0 + seconds * 1_000,
  latitude,
  longitude,
  ...more,
})

test('distance is measured along the surface, even across the 180th meridian and the pole', () => {
  const degree = 111_195
  expect(totals(at(0, 0, 0), at(400, 0, 1)).distanceMetres).toBeCloseTo(degree, -1)
  expect(totals(at(0, 0, 179.5), at(400, 0, -179.5)).distanceMetres).toBeCloseTo(degree, -1)
  expect(totals(at(0, 89.5, 0), at(400, 89.5, 180)).distanceMetres).toBeCloseTo(degree, -1)
  const [far, further] = [at(0, 0, 0), at(400, 0, 1)]
  expect(totals(far, further, at(401, 0, 1)).distanceMetres).toBeCloseTo(degree, -1)
})

test('a step of more than an hour, or faster than 300 m/s, adds no distance', () => {
  const metre = 1 / 111_195
  const way = (...reports: Report[]) => totals(...reports).distanceMetres
  expect(way(at(0, 0, 0), at(3_600, 0, 0.1))).toBeCloseTo(11_119, -1)
  expect(way(at(0, 0, 0), at(3_601, 0, 0.1))).toBe(0)
  expect(way(at(0, 0, 0), at(10, 0, 2_999 * metre))).toBeCloseTo(2_999, 0)
  expect(way(at(0, 0, 0), at(10, 0, 3_001 * metre))).toBe(0)
  // Clocks of many senders count whole seconds.
  expect(way(at(0, 0, 0), at(0, 0, 20 * metre))).toBeCloseTo(20, 0)
  expect(way(at(0, 0, 0), at(0, 0, 301 * metre))).toBe(0)
})

test('a leap adds no moving time and does not count for the top speed', () => {
  const leap = totals(at(0, 0, 0), at(10, 0, 1))
  expect([leap.movingMs, leap.maxSpeed]).toEqual([0, null])
})

test('moving time is the time at 0.5 m/s or more, by reported speeds where available', () => {
  const metre = 1 / 111_195
  expect(totals(at(0, 0, 0), at(10, 0, 6 * metre), at(20, 0, 7 * metre)).movingMs).toBe(10_000)
  expect(
    totals(at(0, 0, 0, { speed: 0 }), at(10, 0, 9 * metre, { speed: 0.2 }), at(20, 0, 0)).movingMs,
  ).toBe(10_000)
})

test('a silence of up to an hour counts as moving if the device got far enough, regardless of reported speeds', () => {
  const metre = 1 / 111_195
  const moved = (seconds: number, metres: number, speed: number) =>
    totals(at(0, 0, 0, { speed }), at(seconds, 0, metres * metre, { speed })).movingMs
  expect(moved(3_600, 1_801, 0)).toBe(3_600_000)
  expect(moved(3_600, 1_799, 20)).toBe(0)
  expect(moved(3_601, 9_000, 20)).toBe(0)
  expect([moved(300, 0, 20), moved(301, 0, 20)]).toEqual([300_000, 0])
})

test('the top speed is the greatest reported speed if half of the records have one, or else includes speeds between records, or is unknown', () => {
  const metre = 1 / 111_195
  const [a, b] = [at(0, 0, 0), at(10, 0, 200 * metre)]
  expect(totals(a, b).maxSpeed).toBeCloseTo(20, 1)
  expect(totals({ ...a, speed: 3 }, b).maxSpeed).toBe(3)
  expect(totals({ ...a, speed: 3 }, b, at(20, 0, 200 * metre)).maxSpeed).toBeCloseTo(20, 1)
  expect(totals({ ...a, speed: 30 }, b, at(20, 0, 200 * metre)).maxSpeed).toBe(30)
  expect(totals(a).maxSpeed).toBeNull()
  expect(totals(a, at(0, 1, 1)).maxSpeed).toBeNull()
  expect(totals(a, at(3_601, 0, 1)).maxSpeed).toBeNull()
})
