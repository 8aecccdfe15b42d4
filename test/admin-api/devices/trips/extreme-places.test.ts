import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { TripFinder, type TripOrStop } from '../../../../schemas/geo/trip-finder.ts'
import { tripView } from '../../../../admin-api/devices/trips/trips.ts'
import type { TrackStep } from '../../../../schemas/devices/read-models.ts'
import { T0 } from '../../../samples.ts'
import { journey, trackStep } from '../../../schemas/geo/journeys.ts'

const MINUTE = 60_000
const nameOf = () => ({ name: 'Town', distanceMetres: 0 })
const ALWAYS = { from: -8e15, to: 8e15 }

function find(steps: readonly TrackStep[]): TripOrStop[] {
  const items: TripOrStop[] = []
  const finder = new TripFinder({ stopMs: 300_000, stopMetres: 100 }, (item) => items.push(item))
  for (const step of steps) finder.add(step)
  finder.end()
  return items
}

test('a drive with the largest accuracy that a sender can report has the same trips as one without accuracy', () => {
  const plain = journey({ minutes: 20 }, { minutes: 30, speed: 15 }, { minutes: 20 })
  const vague = plain.map((step): TrackStep => ({ ...step, accuracy: 3.4028234663852886e38 }))
  expect(find(vague)).toEqual(find(plain))
  expect(find(vague).map(({ kind }) => kind)).toEqual(['stop', 'trip', 'stop'])
})

test.each([90, -90, 90 - 1e-7, -90 + 1e-9, 89.9999999999])(
  'a stop at or near a pole has a position: latitude %d',
  async (latitude) => {
    const steps = Array.from({ length: 60 }, (_, n): TrackStep => {
      return trackStep({ timestamp: T0 + n * MINUTE, latitude, longitude: (n * 47) % 180 }, n)
    })
    const views = find(steps).map((item) => tripView(item, ALWAYS, nameOf))
    const [stop, ...others] = await Promise.all(views)
    expect(others).toEqual([])
    expect(stop).toMatchObject({ kind: 'stop', records: 60 })
    const position = stop !== undefined && 'position' in stop ? stop.position : undefined
    expect(position?.latitude).toBeCloseTo(latitude, 6)
    expect(position?.longitude).toEqual(expect.any(Number))
  },
)

const extreme = fc.record({
  after: fc.constantFrom(0, 1, 1_000, MINUTE, 5 * MINUTE, 61 * MINUTE),
  latitude: fc.constantFrom(0, -0, 5e-324, 1e-300, 90, -90, 89.9999999, -89.9999999, 48, 48.0001),
  longitude: fc.constantFrom(0, -0, 5e-324, 180, -180, 179.9999999, -179.9999999, 11, 11.0001),
  speed: fc.constantFrom(null, 0, 5e-324, 300, 1e308, Number.MAX_VALUE),
  accuracy: fc.constantFrom(null, 0, 5e-324, 5_000, 1e7, 2e7, 2.1e7, 3.4e38, Number.MAX_VALUE),
})

test('any positions, speeds and accuracies give trips and stops with finite numbers and no record twice', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(extreme, { maxLength: 60 }), async (fields) => {
      let time = T0
      const steps = fields.map(({ after, ...fields }, n): TrackStep => {
        time += after
        return trackStep({ timestamp: time, ...fields }, n)
      })
      const items = find(steps)
      for (const item of items) {
        // JSON writes null for a number that is not finite.
        const { maxSpeed, ...view } = {
          maxSpeed: null,
          ...(await tripView(item, ALWAYS, nameOf)),
          open: '',
        }
        expect(JSON.stringify(view)).not.toContain('null')
        expect(maxSpeed === null || Number.isFinite(maxSpeed)).toBe(true)
      }
      const held = items.reduce((sum, { records }) => sum + records, 0)
      expect(held).toBeLessThanOrEqual(steps.length)
      for (const [n, { from }] of items.slice(1).entries()) {
        expect(from).toBeGreaterThanOrEqual(items[n]?.to ?? Infinity)
      }
    }),
    { numRuns: 500 },
  )
})
