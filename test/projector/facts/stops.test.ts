import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { judgeStop } from '../../../projector/facts/stops.ts'
import { STOPPED } from '../../../schemas/definitions/device-rule.ts'
import type { StopFix, StopState } from '../../../schemas/definitions/definitions-state.ts'
import { TripFinder, type TripOrStop } from '../../../schemas/geo/trip-finder.ts'
import { T0 } from '../../samples.ts'
import { DEGREE_METRES, HOME } from './judging.ts'

type Stay = readonly [from: number, to: number]

/** Metres and seconds from the previous position; rarely a position without a fix, at (0, 0). */
const steps = fc.record({
  north: fc.integer({ min: -40, max: 40 }),
  east: fc.integer({ min: -40, max: 40 }),
  times: fc.constantFrom(0, 1, 1, 1, 10),
  seconds: fc.oneof(
    fc.constantFrom(1, 2, 3),
    fc.integer({ min: 4, max: 60 }),
    fc.constantFrom(600, 4_000),
  ),
  accuracy: fc.option(fc.integer({ min: 0, max: 300 }), { nil: undefined, freq: 6 }),
  isLost: fc.constantFrom(...Array.from({ length: 40 }, (_, n) => n === 0)),
})
const walks = fc.array(steps, { minLength: 50, maxLength: 300 }).map((taken) => {
  let [north, east, seconds] = [0, 0, 0]
  return taken.map((step): StopFix => {
    north += step.north * step.times
    east += step.east * step.times
    seconds += step.seconds
    const at = T0 + seconds * 1_000
    const accuracy = step.accuracy === undefined ? {} : { accuracy: step.accuracy }
    if (step.isLost) return { latitude: 0, longitude: 0, ...accuracy, at, receivedAt: at }
    const latitude = HOME.latitude + north / DEGREE_METRES
    const longitude = HOME.longitude + east / (DEGREE_METRES * Math.cos(HOME.latitude / 57.3))
    return { latitude, longitude, ...accuracy, at, receivedAt: at }
  })
})

function stopsOfTrips(fixes: readonly StopFix[]): Stay[] {
  const items: TripOrStop[] = []
  const finder = new TripFinder(STOPPED, (item) => items.push(item))
  for (const { at: timestamp, latitude, longitude, accuracy = null } of fixes) {
    const origin = { partition: 0, offset: 0 }
    finder.add({
      recordId: '',
      timestamp,
      latitude,
      longitude,
      speed: null,
      accuracy,
      origin,
    })
  }
  finder.end()
  return items.flatMap((item): Stay[] => (item.kind === 'stop' ? [[item.from, item.to]] : []))
}

/** Position by position, with the state in its stored form. */
function stopsOfRules(fixes: readonly StopFix[]): Stay[] {
  const stays: Stay[] = []
  let state: StopState | undefined
  for (const fix of fixes) {
    const verdict = judgeStop(state, fix, false)
    state = JSON.parse(JSON.stringify(verdict.state)) as StopState
    const [first] = verdict.fixes
    if (verdict.isStopped !== true || first === undefined) continue
    if (stays.at(-1)?.[0] === first.at) stays.pop()
    stays.push([first.at, fix.at])
  }
  return stays
}

/**
 * A trip's stop also includes later positions until the device really left or was back: facts
 * cannot look ahead.
 */
function isWithin([from, to]: Stay, [start, end]: Stay): boolean {
  return from >= start && to <= end
}

test('rules and trips find the same stops on random walks', () => {
  let count = 0
  fc.assert(
    fc.property(walks, (fixes) => {
      const [trips, rules] = [stopsOfTrips(fixes), stopsOfRules(fixes)]
      count += rules.length
      const outside = rules.filter((stop) => !trips.some((trip) => isWithin(stop, trip)))
      const missing = trips.filter((trip) => !rules.some((stop) => isWithin(stop, trip)))
      expect({ outside, missing }).toEqual({ outside: [], missing: [] })
    }),
    { numRuns: 400 },
  )
  expect(count).toBeGreaterThan(100)
})

test('a resting device with ten positions a second stores few of them, and its stop is found', () => {
  let state: StopState | undefined
  let most = 0
  for (let n = 0; n <= 3_000; n += 1) {
    const at = T0 + n * 100
    state = judgeStop(state, { ...HOME, at, receivedAt: at }, false).state
    most = Math.max(most, state.window.length)
  }
  expect(most).toBeLessThanOrEqual(301)
  expect(state?.stopped?.first.at).toBe(T0)
})
