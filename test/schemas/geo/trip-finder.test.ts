import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { metresApart, type FoundTrip } from '../../../schemas/geo/open-trip.ts'
import { TripFinder, type StopRules, type TripOrStop } from '../../../schemas/geo/trip-finder.ts'
import { TrackTotals } from '../../../schemas/geo/track-totals.ts'
import { coordinatesOf, distance, earthPointOf } from '../../../schemas/geo/earth-point.ts'
import { isPathless } from '../../../schemas/geo/leap-filter.ts'
import type { TrackStep } from '../../../schemas/devices/read-models.ts'
import { pointsOf, tracks } from '../../recorded-tracks.ts'
import { T0 } from '../../samples.ts'
import { journey, METRE, MINUTE, trackStep } from './journeys.ts'

function find(steps: readonly TrackStep[], rules: Partial<StopRules> = {}): TripOrStop[] {
  const items: TripOrStop[] = []
  const finder = new TripFinder({ stopMs: 300_000, stopMetres: 100, ...rules }, (item) => {
    items.push(item)
  })
  for (const step of steps) finder.add(step)
  finder.end()
  return items
}

function placeAt({ latitude, longitude }: TrackStep) {
  return earthPointOf(latitude, longitude)
}

/** Kinds and times in minutes. */
function told(steps: readonly TrackStep[], rules: Partial<StopRules> = {}): string[] {
  const minutes = (time: number) => Math.round((time - T0) / MINUTE)
  return find(steps, rules).map(({ kind, from, to }) => `${kind} ${minutes(from)}–${minutes(to)}`)
}

const drive = { minutes: 30, speed: 15 }

test('parking, driving and parking again gives two stops and the trip between them', () => {
  const steps = journey({ minutes: 20 }, drive, { minutes: 10 })
  expect(told(steps)).toEqual(['stop 0–20', 'trip 20–50', 'stop 50–60'])
  const [first, trip, second] = find(steps)
  expect(trip).toMatchObject({ from: first?.to, to: second?.from })
  expect(trip?.kind === 'trip' && trip.distanceMetres / (30 * 60 * 15)).toBeCloseTo(1, 1)
  expect([first?.records, trip?.records, second?.records]).toEqual([121, 178, 61])
})

test('a parked device whose positions are off by less than the accuracy has no trip', () => {
  expect(told(journey({ minutes: 600, jitter: 30 }))).toEqual(['stop 0–600'])
  const vague = journey({ minutes: 600, jitter: 900, accuracy: 950 })
  expect(told(vague)).toEqual(['stop 0–600'])
  expect(told(journey({ minutes: 3, jitter: 90 }))).toEqual([])
  expect(told(journey({ minutes: 3, jitter: 900, accuracy: 950 }))).toEqual([])
})

test('an inaccurate report neither ends a stop nor hides a trip', () => {
  const tower = { minutes: 0.1, accuracy: 3_000, leap: 2_000 }
  const steps = journey({ minutes: 10 }, tower, { minutes: 10, leap: -2_000 }, drive)
  expect(told(steps)).toEqual(['stop 0–20', 'trip 20–50'])
  const cold = journey({ minutes: 0.1, accuracy: 5_000 }, { minutes: 5, speed: 15 })
  expect(told(cold)).toEqual(['trip 0–5'])
})

test('a stop takes at least `stopMs`, to the millisecond', () => {
  const around = (seconds: number) => {
    const at = [-20, -10, 0, seconds, seconds + 10, seconds + 20]
    const north = [-2_000, -1_000, 0, 0, 1_000, 2_000]
    return at.map((second, n): TrackStep => {
      const latitude = 52 + (north[n] ?? 0) * METRE
      return trackStep({ timestamp: T0 + second * 1_000, latitude, longitude: 13 }, n)
    })
  }
  expect(find(around(300)).map(({ kind }) => kind)).toEqual(['trip', 'stop', 'trip'])
  expect(find(around(299.999)).map(({ kind }) => kind)).toEqual(['trip'])
  expect(find(around(300), { stopMs: 300_001 }).map(({ kind }) => kind)).toEqual(['trip'])
  expect(find(around(60), { stopMs: 60_000 }).map(({ kind }) => kind)).toContain('stop')
})

test('a stop reaches `stopMetres` from its middle, and no further', () => {
  const between = (metres: number) =>
    Array.from({ length: 60 }, (_, n): TrackStep => {
      const latitude = 52 + (n % 2) * metres * METRE
      return trackStep({ timestamp: T0 + n * MINUTE, latitude, longitude: 13 }, n)
    })
  const [stop] = find(between(199))
  expect(stop?.kind === 'stop' && stop.records).toBe(60)
  expect(
    stop?.kind === 'stop' && metresApart(stop.middle, earthPointOf(52 + 99.5 * METRE, 13)),
  ).toBeLessThan(0.1)
  expect(find(between(201)).map(({ kind }) => kind)).toEqual(['trip'])
  expect(find(between(201), { stopMetres: 101 }).map(({ kind }) => kind)).toEqual(['stop'])
  expect(find(between(199), { stopMetres: 99 }).map(({ kind }) => kind)).toEqual(['trip'])
})

test('a silence of more than an hour ends a trip, and its distance belongs to none', () => {
  const silence = (minutes: number) =>
    journey({ minutes: 20, speed: 15 }, { minutes, speed: 1, silent: true }, drive)
  expect(told(silence(59))).toEqual(['trip 0–109'])
  expect(told(silence(61))).toEqual(['trip 0–20', 'trip 81–111'])
  const [first, second] = find(silence(61))
  expect(first?.kind === 'trip' && first.distanceMetres / (20 * 60 * 15)).toBeCloseTo(1, 1)
  expect(second?.kind === 'trip' && second.distanceMetres / (30 * 60 * 15)).toBeCloseTo(1, 1)
})

test('a device seen at the same place before and after a silence has stopped there', () => {
  const night = journey(drive, { minutes: 2 }, { minutes: 600, silent: true }, drive)
  expect(told(night)).toEqual(['trip 0–30', 'stop 30–632', 'trip 632–662'])
})

test('a leap ends a trip and adds no distance', () => {
  const steps = journey(drive, { minutes: 30, speed: 15, leap: 9_000 })
  expect(told(steps)).toEqual(['trip 0–30', 'trip 30–60'])
  const driven = find(steps).map((item) => (item.kind === 'trip' ? item.distanceMetres : 0))
  for (const metres of driven) expect(metres / (30 * 60 * 15)).toBeCloseTo(1, 1)
})

test('a single position far away, in a stop or a trip, is dropped', () => {
  const steps = journey({ minutes: 30 }, { minutes: 0.1, leap: 9_000 }, { minutes: 30, leap: -9e3 })
  expect(told(steps)).toEqual(['stop 0–60'])
  expect(find(steps)[0]?.records).toBe(steps.length - 1)
  const driven = journey(drive)
  const zero = driven.map((step, n): TrackStep => {
    const isOff = n > 0 && n % 7 === 0 && n < driven.length - 1
    return isOff ? { ...step, latitude: 0, longitude: 0 } : step
  })
  const [trip, ...others] = find(zero)
  const [whole] = find(driven)
  expect(others).toEqual([])
  expect(trip).toMatchObject({ kind: 'trip', from: whole?.from, to: whole?.to })
  expect((trip as FoundTrip).distanceMetres).toBeCloseTo((whole as FoundTrip).distanceMetres, 3)
})

test('two positions far away, or one without a return, count as a leap', () => {
  const twice = journey({ minutes: 30 }, { minutes: 0.3, leap: 9e3 }, { minutes: 30, leap: -9e3 })
  expect(told(twice)).toEqual(['stop 0–30', 'stop 30–60'])
  const away = journey({ minutes: 30 }, { minutes: 0.1, leap: 9e3 }, { minutes: 30, leap: 9e3 })
  expect(told(away)).toEqual(['stop 0–30', 'stop 30–60'])
})

test('a night at home is one stop, however far off single positions are', () => {
  const home = { minutes: 60, jitter: 20 }
  const off = { minutes: 0.5, jitter: 20 }
  const night = journey(home, { ...off, leap: 140 }, { ...home, leap: -100 }, home)
  expect(told(night)).toEqual(['stop 0–180'])
  expect(find(night)[0]?.records).toBe(night.length)
  const silent = journey(
    home,
    { ...off, leap: 140 },
    { minutes: 180, silent: true },
    { ...home, leap: -140 },
  )
  expect(told(silent)).toEqual(['stop 0–300'])
})

test('two items are contiguous unless the path between them is unknown', () => {
  const legs = fc.record({
    minutes: fc.integer({ min: 1, max: 40 }),
    speed: fc.constantFrom(0, 0, 0.3, 1.4, 15),
    jitter: fc.constantFrom(0, 30, 90, 150),
    accuracy: fc.constantFrom(null, 30, 300),
    leap: fc.constantFrom(0, 0, 60, 140, 9_000),
    silent: fc.constantFrom(false, false, false, true),
  })
  fc.assert(
    fc.property(fc.array(legs, { minLength: 1, maxLength: 12 }), (driven) => {
      const steps = journey(...driven)
      const items = find(steps)
      for (const [n, item] of items.slice(1).entries()) {
        const before = items[n]!
        const areStops = before.kind === 'stop' && item.kind === 'stop'
        if (areStops && before.to === item.from) {
          expect(metresApart(before.middle, item.middle)).toBeGreaterThan(100)
        }
        if (before.to === item.from) continue
        const between = steps.filter(
          ({ timestamp }) => timestamp >= before.to && timestamp <= item.from,
        )
        const isUnknown = between.slice(1).some((step, m) => {
          const last = between[m]!
          const metres = distance(placeAt(last), placeAt(step))
          return isPathless(metres, step.timestamp - last.timestamp)
        })
        expect(isUnknown).toBe(true)
        if (!areStops || between.length > 2) continue
        expect(metresApart(before.middle, item.middle)).toBeGreaterThan(100)
      }
    }),
    { numRuns: 300 },
  )
})

test('a device that drifts slowly has stops, each within reach of its middle, and no trips', () => {
  const steps = journey({ minutes: 300, speed: 0.1 })
  const items = find(steps)
  expect(new Set(items.map(({ kind }) => kind))).toEqual(new Set(['stop']))
  for (const item of items) {
    if (item.kind === 'trip') continue
    const isLast = item === items.at(-1)
    const within = steps.filter(
      ({ timestamp: time }) =>
        time >= item.from && (time < item.to || (isLast && time === item.to)),
    )
    expect(within).toHaveLength(item.records)
    for (const step of within) {
      expect(metresApart(item.middle, placeAt(step))).toBeLessThanOrEqual(100)
    }
  }
})

test('the middle of a stop is on the surface, also near a pole', () => {
  const north = 4_000 * METRE
  const steps = Array.from({ length: 60 }, (_, n): TrackStep => {
    const latitude = 80 + (n % 2 === 0 ? north : -north)
    const accuracy = 5_000
    return trackStep({ timestamp: T0 + n * MINUTE, latitude, longitude: 13, accuracy }, n)
  })
  const [stop] = find(steps)
  if (stop?.kind !== 'stop') throw new Error('no stop')
  expect(coordinatesOf(stop.middle).latitude).toBeCloseTo(80, 6)
})

test('a trip and its distance continue through a silence', () => {
  const steps = journey(drive, { minutes: 27, speed: 1, silent: true }, drive)
  const [trip] = find(steps)
  if (trip?.kind !== 'trip') throw new Error('no trip')
  expect(trip.movingMs).toBe(trip.to - trip.from)
})

/** The indexes of records after which the items no longer depend on earlier records. */
function certainAfter(steps: readonly TrackStep[]): boolean[] {
  const finder = new TripFinder({ stopMs: 300_000, stopMetres: 100 }, () => undefined)
  return steps.map((step) => {
    finder.add(step)
    return finder.isCertain
  })
}

/** A record every 10 s, none within reach of another, so that each is a separate trip. */
const leaps = Array.from({ length: 8 }, () => ({ minutes: 1 / 6, leap: 9_000 }))

test('later steps are certain once no remaining record can share a stop with earlier ones', () => {
  // Each record is held until the next one, and the third shows that the second is not an outlier.
  // With the fifth a record has left since, and with the sixth the device was elsewhere than at any
  // stop of before.
  expect(certainAfter(journey(...leaps)).indexOf(true)).toBe(5)
  // After a stop it takes as many again: earlier departures say nothing about records after the
  // stop.
  const stood = [{ minutes: 2 / 6, speed: 15 }, { minutes: 6 }, ...leaps]
  expect(certainAfter(journey(...stood)).indexOf(true)).toBe(2 + 36 + 3)
  expect(certainAfter(journey({ minutes: 60 })).includes(true)).toBe(false)
})

test('a stop and the trip after it are uncertain if the stop started before anything was certain', () => {
  const drive = { speed: 15, minutes: 10 }
  const certain = certainAfter(journey({ minutes: 10 }, drive, { minutes: 10 }, drive))
  // The second stop starts with the record 10 s before the device parks, and is known 5 minutes
  // later.
  expect([certain.indexOf(true), certain.lastIndexOf(false)]).toEqual([149, 148])
})

/** Kinds, with start and end as clock times. */
function toldOfTrack(name: string): string[] {
  const file = tracks.find((path) => path.endsWith(name)) ?? ''
  const timed = pointsOf(file).filter(({ time }) => time !== undefined)
  const steps = timed.map(({ latitude, longitude, time = '' }, n): TrackStep => {
    return trackStep({ timestamp: Date.parse(time), latitude, longitude }, n)
  })
  const clock = (time: number) => new Date(time).toISOString().slice(11, 19)
  return find(steps).map(({ kind, from, to }) => `${kind} ${clock(from)}–${clock(to)}`)
}

// As their files show: the van is silent from 07:49:46 to 07:56:51 and then 57 m away, and the
// walker walks on for 27 minutes whose points have no time. Neither stops anywhere else.
test('recorded tracks have the stops that their records show', () => {
  expect(toldOfTrack('courier-van.gpx')).toEqual([
    'trip 07:41:17–07:49:33',
    'stop 07:49:33–07:56:51',
    'trip 07:56:51–08:02:48',
  ])
  expect(toldOfTrack('ridge-walk.gpx')).toEqual(['trip 05:58:15–06:57:44'])
})

test('very many records at one point are a stop even in less time, to limit memory', () => {
  const steps = journey({ minutes: 10, everyMs: 6 }, { minutes: 10, speed: 15 })
  const stops = (count: number) =>
    find(steps.slice(0, count), { stopMs: 3_600_000 }).map(({ kind, from, to }) => [kind, from, to])
  expect(stops(90_000)).toEqual([])
  expect(stops(90_001)).toEqual([['stop', T0, T0 + 90_000 * 6]])
})

test('records that leave the window keep their times, coordinates and speeds', () => {
  const drive = journey({ minutes: 300, speed: 15 }).map((step, n): TrackStep => ({
    ...step,
    speed: n % 3 === 0 ? null : n % 40,
  }))
  const totals = new TrackTotals()
  for (const step of drive) totals.add(step, placeAt(step))
  const { distanceMetres, movingMs, maxSpeed } = totals
  const [first, last] = [drive[0], drive.at(-1)]
  expect(find(drive)).toEqual([
    {
      kind: 'trip',
      records: drive.length,
      distanceMetres,
      movingMs,
      maxSpeed,
      from: first?.timestamp,
      to: last?.timestamp,
      start: { latitude: first?.latitude, longitude: first?.longitude },
      end: { latitude: last?.latitude, longitude: last?.longitude },
    },
  ])
})

/** Records at these seconds and metres to the north of a point. */
function walk(...records: readonly (readonly [second: number, north: number])[]): TrackStep[] {
  return records.map(([second, north], n) => {
    const timestamp = T0 + second * 1_000
    return trackStep({ timestamp, latitude: 52 + north * METRE, longitude: 13 }, n)
  })
}

/** A resting phone reports every 17 minutes, within 15 m. */
const rest = (from: number, north: number, count = 12) =>
  Array.from({ length: count }, (_, n) => [from + n * 1_020, north + (n % 3) * 5] as const)

test('an evening at home is one stop: the way there does not move its middle', () => {
  const way = Array.from({ length: 11 }, (_, n) => [n * 60, n * 216] as const)
  const home = walk(...way, [650, 2_340], [720, 2_340], ...rest(1_740, 2_355))
  expect(told(home)).toEqual(['trip 0–10', 'stop 10–216'])
  const [, stop] = find(home)
  const door = earthPointOf(52 + 2_360 * METRE, 13)
  expect(stop?.kind === 'stop' && metresApart(stop.middle, door)).toBeLessThan(40)
})

test('a hop between two stops is a trip, even if two inaccurate records could be at one point', () => {
  const hop = walk(...rest(0, 0, 4), ...rest(4_080, 190, 4))
  expect(told(hop)).toEqual(['stop 0–51', 'trip 51–68', 'stop 68–119'])
  expect(find(hop)[1]).toMatchObject({ records: 0, distanceMetres: expect.closeTo(190, 0) })
  const vague = hop.map((step) => ({ ...step, accuracy: 200 }))
  expect(find(vague).map(({ kind }) => kind)).toEqual(['stop'])
})

test('the middle of a stop is where the device rested, not between that and where it left', () => {
  const [stop] = find(journey({ minutes: 20 }, { minutes: 10, speed: 9 }))
  const rested = earthPointOf(52, 13)
  expect(stop?.kind === 'stop' && metresApart(stop.middle, rested)).toBeLessThan(2)
})
