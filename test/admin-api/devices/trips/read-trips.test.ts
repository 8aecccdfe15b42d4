import { beforeAll, expect, test } from '@jest/globals'
import fc from 'fast-check'
import {
  readTrips,
  type TripQuery,
  type TripsPage,
} from '../../../../admin-api/devices/trips/read-trips.ts'
import type { TripOrStop } from '../../../../schemas/geo/trip-finder.ts'
import type { TrackStep } from '../../../../schemas/devices/read-models.ts'
import type { Store } from '../../../../store/store.ts'
import { openSqliteStore } from '../../../../store/sqlite/sqlite-store.ts'
import { closeAfterwards } from '../../../closing.ts'
import { batchOf, LogOfOneSuite, type PositionEntry } from '../../../contracts/store-samples.ts'
import { ownDirectory } from '../../../own-directory.ts'
import { positionReported, T0 } from '../../../samples.ts'
import { journey, MINUTE } from '../../../schemas/geo/journeys.ts'

let store: Store
const log = new LogOfOneSuite()
let devices = 0
/** When all records were received, which changes their order. */
const LATE = T0 + 60 * 24 * 60 * MINUTE

beforeAll(async () => {
  store = openSqliteStore({ directory: await ownDirectory(), clock: { now: () => T0 } })
  closeAfterwards(() => store.close())
})

/** @returns the id of a device with these steps, stored in this order, received late or immediately. */
async function stored(steps: readonly TrackStep[], { isLate = true } = {}): Promise<string> {
  devices += 1
  const deviceId = `device-${devices}`
  const entries = steps.map(({ timestamp, latitude, longitude, recordId, accuracy }) => {
    const measured = accuracy === null ? {} : { accuracy }
    const receivedAt = isLate ? LATE : timestamp
    const place = { timestamp, receivedAt, latitude, longitude, ...measured }
    return log.append(positionReported({ deviceId, recordId: `${deviceId}-${recordId}`, ...place }))
  })
  for (let at = 0; at < entries.length; at += 500) {
    const some = entries.slice(at, at + 500) as [PositionEntry, ...PositionEntry[]]
    await store.project(batchOf(...some))
  }
  return deviceId
}

/** A store that counts the pages read. */
function countedStore() {
  return {
    pages: 0,
    pageTrack(query: Parameters<Store['pageTrack']>[0]) {
      this.pages += 1
      return store.pageTrack(query)
    },
  }
}

const RULES = { stopMs: 300_000, stopMetres: 100, limit: 2_000 }

type Minutes = { readonly from: number; readonly to: number }

async function read(deviceId: string, range: Minutes): Promise<readonly TripOrStop[]> {
  return (await readPage(deviceId, range)).items
}

function readPage(
  deviceId: string,
  { from, to }: Minutes,
  page: Partial<Pick<TripQuery, 'limit' | 'after'>> = {},
): Promise<TripsPage> {
  const range = { from: T0 + from * MINUTE, to: T0 + to * MINUTE }
  return readTrips(
    { accountId: 'acc-1', deviceId, ...range, ...RULES, ...page },
    { store, isWanted: () => true },
  )
}

/** The items of all pages, and the totals of the first. */
async function readPages(deviceId: string, range: Minutes, limit: number) {
  const items: TripOrStop[] = []
  let page = await readPage(deviceId, range, { limit })
  const { totals } = page
  for (;;) {
    expect(page.items.length).toBeLessThanOrEqual(limit)
    items.push(...page.items)
    if (page.next === undefined) return { items, totals }
    expect(page.items).toHaveLength(limit)
    page = await readPage(deviceId, range, { limit, after: page.next })
    expect(page.totals).toBeUndefined()
  }
}

const leg = fc.record({
  minutes: fc.integer({ min: 1, max: 90 }),
  speed: fc.constantFrom(0, 0, 0.1, 0.5, 1.4, 15),
  jitter: fc.constantFrom(0, 20, 90, 150),
  accuracy: fc.constantFrom(null, null, 20, 300),
  everyMs: fc.constantFrom(20_000, 60_000, 240_000),
  leap: fc.constantFrom(0, 0, 0, 9_000),
  silent: fc.constantFrom(false, false, false, true),
})
const legs = fc.array(leg, { minLength: 1, maxLength: 14 })

/** Slow enough for stops that follow one another, whose ends depend on where the first started. */
const drift = fc.record({
  minutes: fc.integer({ min: 5, max: 200 }),
  speed: fc.constantFrom(0.2, 0.4, 0.6, 0.8, 3),
  jitter: fc.constantFrom(0, 20, 60),
  everyMs: fc.constant(60_000),
})
const drifts = fc.array(drift, { minLength: 2, maxLength: 8 })

test('adjoining ranges join without a seam, and their totals add up, wherever they meet', async () => {
  const bounds = fc.array(fc.integer({ min: -5, max: 900 }), { minLength: 3, maxLength: 3 })
  await fc.assert(
    fc.asyncProperty(fc.oneof(legs, drifts), bounds, async (driven, times) => {
      const [a = 0, b = 0, c = 0] = [...times].sort((one, other) => one - other)
      const deviceId = await stored(journey(...driven))
      const [left, right, whole] = [
        await readPage(deviceId, { from: a, to: b }),
        await readPage(deviceId, { from: b, to: c }),
        await readPage(deviceId, { from: a, to: c }),
      ]
      const again = right.items.filter((item) => !left.items.some((one) => one.from === item.from))
      expect([...left.items, ...again]).toEqual(whole.items)
      for (const item of right.items.filter((one) => !again.includes(one))) {
        expect(left.items).toContainEqual(item)
        expect(item.to).toBeGreaterThan(T0 + b * MINUTE)
      }
      const [one, other, both] = [left.totals!, right.totals!, whole.totals!]
      expect(one.trips + other.trips).toBe(both.trips)
      expect(one.stops + other.stops).toBe(both.stops)
      for (const name of ['distanceMetres', 'movingSeconds', 'stoppedSeconds'] as const) {
        expect(one[name] + other[name]).toBeCloseTo(both[name], 6)
        const most = ((b - a) * MINUTE) / 1_000
        if (name !== 'distanceMetres') expect(one[name]).toBeLessThanOrEqual(most + 1e-6)
      }
    }),
    { numRuns: 120 },
  )
})

test('a day inside a three-day stop has one day of it, and a trip across midnight counts on both days', async () => {
  const day = 24 * 60
  const drive = { minutes: 60, speed: 20 }
  const deviceId = await stored(journey({ minutes: 3 * day }, drive, { minutes: 3 * day }))
  const inside = await readPage(deviceId, { from: day, to: 2 * day })
  expect(inside.items).toMatchObject([{ kind: 'stop', from: T0 }])
  expect(inside.totals).toMatchObject({ trips: 0, stops: 0, stoppedSeconds: 86_400 })
  const middle = 3 * day + 15
  const [before, after] = [
    (await readPage(deviceId, { from: 2 * day, to: middle })).totals!,
    (await readPage(deviceId, { from: middle, to: 4 * day })).totals!,
  ]
  expect([before.trips, after.trips]).toEqual([1, 0])
  expect(before.distanceMetres).toBeCloseTo(15 * 60 * 20, -2)
  expect(after.distanceMetres).toBeCloseTo(45 * 60 * 20, -3)
  expect([before.movingSeconds, after.movingSeconds]).toEqual([15 * 60, 45 * 60])
})

test('the step from a record before the range to one in it is divided in proportion to time', async () => {
  const steps = journey({ minutes: 60, speed: 15, everyMs: 600_000 })
  const deviceId = await stored(steps)
  const { totals } = await readPage(deviceId, { from: 15, to: 18 })
  expect(totals!.movingSeconds).toBeCloseTo(180, 6)
  expect(totals!.distanceMetres).toBeCloseTo(180 * 15, -1)
})

test('pages of any size together equal a single page, and the first has the overall totals', async () => {
  const times = fc.tuple(fc.integer({ min: -5, max: 500 }), fc.integer({ min: 0, max: 900 }))
  const limits = fc.integer({ min: 1, max: 5 })
  await fc.assert(
    fc.asyncProperty(fc.oneof(legs, drifts), times, limits, async (driven, [from, more], limit) => {
      const deviceId = await stored(journey(...driven))
      const range = { from, to: from + more }
      const whole = await readPage(deviceId, range)
      const paged = await readPages(deviceId, range, limit)
      expect(paged.items).toEqual(whole.items)
      expect(paged.totals).toEqual(whole.totals)
      expect(whole.next).toBeUndefined()
    }),
    { numRuns: 120 },
  )
})

test('pages continue after a stop that started more than 31 days before the range', async () => {
  const day = 24 * 60
  const later = [{ minutes: 30, speed: 15 }, { minutes: 20 }, { minutes: 30, speed: 0.3 }]
  const steps = journey({ minutes: 70 * day, everyMs: 3_600_000, jitter: 60 }, ...later)
  const deviceId = await stored(steps)
  const range = { from: 50 * day, to: 71 * day }
  const whole = await read(deviceId, range)
  expect(whole.length).toBeGreaterThan(3)
  expect((await readPages(deviceId, range, 1)).items).toEqual(whole)
})

test('reading a later page starts near the end of the previous one', async () => {
  const driven = Array.from({ length: 300 }, () => [{ minutes: 10 }, { minutes: 10, speed: 15 }])
  const deviceId = await stored(journey(...driven.flat()))
  const range = { from: 0, to: 6_000 }
  const { next } = await readPage(deviceId, range, { limit: 590 })
  const counted = countedStore()
  await readTrips(
    {
      accountId: 'acc-1',
      deviceId,
      from: T0,
      to: T0 + 6_000 * MINUTE,
      ...RULES,
      ...(next && { after: next }),
    },
    { store: counted, isWanted: () => true },
  )
  expect(counted.pages).toBeLessThanOrEqual(5)
})

/** Every kind of edge: a first stop, a trip, a silence, a leap, drift from stop to stop. */
const EDGES = [
  ...[{ minutes: 20 }, { minutes: 20, speed: 15 }, { minutes: 12, speed: 0.5 }],
  ...[
    { minutes: 90, silent: true },
    { minutes: 15, speed: 15 },
  ],
  ...[
    { minutes: 20, leap: 9_000 },
    { minutes: 100, speed: 0.3, everyMs: 30_000 },
  ],
  ...[{ minutes: 20, speed: 15 }, { minutes: 10 }],
]

test('a fixed journey has the same items wherever a range starts or ends', async () => {
  const deviceId = await stored(journey(...EDGES))
  const whole = await read(deviceId, { from: -5, to: 400 })
  expect(new Set(whole.map(({ kind }) => kind))).toEqual(new Set(['stop', 'trip']))
  for (let at = 0; at <= 310; at += 3) {
    const time = T0 + at * MINUTE
    const until = whole.filter(({ from }) => from < time)
    expect([at, await read(deviceId, { from: -5, to: at })]).toEqual([at, until])
    const since = whole.filter(({ from, to }) => from >= time || to > time)
    expect([at, await read(deviceId, { from: at, to: 400 })]).toEqual([at, since])
  }
})

test('stops of a device that drifts all day do not depend on where a range starts', async () => {
  const deviceId = await stored(journey({ minutes: 40 * 60, speed: 0.3, everyMs: 60_000 }))
  const whole = await read(deviceId, { from: -5, to: 40 * 60 })
  expect(whole.length).toBeGreaterThan(100)
  for (const from of [30, 31, 32.5, 34, 36, 38].map((hour) => hour * 60)) {
    const time = T0 + from * MINUTE
    expect(await read(deviceId, { from, to: 40 * 60 })).toEqual(
      whole.filter((item) => item.from >= time || item.to > time),
    )
  }
})

test('reading stops at the end of the last item that started in the range', async () => {
  const driven = Array.from({ length: 300 }, () => [{ minutes: 10 }, { minutes: 10, speed: 15 }])
  const deviceId = await stored(journey(...driven.flat()))
  const counted = countedStore()
  const range = { from: T0 + 30 * MINUTE, to: T0 + 50 * MINUTE }
  const options = { store: counted, isWanted: () => true }
  const device = { accountId: 'acc-1', deviceId }
  const { items } = await readTrips({ ...device, ...range, ...RULES }, options)
  expect(items).toHaveLength(2)
  expect(counted.pages).toBeLessThanOrEqual(5)
  counted.pages = 0
  const later = { from: T0 + 90 * 24 * 60 * MINUTE, to: T0 + 91 * 24 * 60 * MINUTE }
  expect((await readTrips({ ...device, ...later, ...RULES }, options)).items).toEqual([])
  expect(counted.pages).toBe(1)
})

test('once retention has removed records, trips come from the remaining records', async () => {
  const steps = journey({ minutes: 20 }, { minutes: 30, speed: 15 }, { minutes: 20 })
  const gone = 25 * 6
  const [kept, whole] = [await stored(steps.slice(gone)), await stored(steps, { isLate: false })]
  const range = { from: -5, to: 100 }
  expect(await read(whole, range)).toHaveLength(3)
  await store.expire(T0 + 25 * MINUTE)
  const told = (items: readonly TripOrStop[]) =>
    items.map(({ kind, from, to, records }) => ({ kind, from, to, records }))
  const left = told(await read(whole, range))
  expect(left.map(({ kind }) => kind)).toEqual(['trip', 'stop'])
  expect(left).toEqual(told(await read(kept, range)))
})

test('records arriving in any order give the same trips', async () => {
  const shuffled = legs.chain((driven) => {
    const steps = journey(...driven)
    return fc.tuple(
      fc.constant(steps),
      fc.shuffledSubarray(steps, { minLength: steps.length, maxLength: steps.length }),
    )
  })
  await fc.assert(
    fc.asyncProperty(shuffled, async ([steps, order]) => {
      const range = { from: 0, to: 1_300 }
      const found = await read(await stored(order), range)
      const told = (items: readonly TripOrStop[]) =>
        items.map((item) => (item.kind === 'trip' ? { ...item, start: 0, end: 0 } : item))
      expect(told(found)).toEqual(told(await read(await stored(steps), range)))
    }),
    { numRuns: 60 },
  )
})

test('items follow one another, hold each record at most once, and are whole at the edges', async () => {
  await fc.assert(
    fc.asyncProperty(legs, async (driven) => {
      const steps = journey(...driven)
      const items = await read(await stored(steps), { from: 0, to: 1_300 })
      for (const [n, item] of items.entries()) {
        const next = items[n + 1]
        if (next !== undefined) expect(item.to).toBeLessThanOrEqual(next.from)
        if (item.kind === 'stop') expect(item.to - item.from).toBeGreaterThanOrEqual(300_000)
      }
      const held = items.reduce((sum, { records }) => sum + records, 0)
      expect(held).toBeLessThanOrEqual(steps.length)
    }),
    { numRuns: 60 },
  )
})

test('a stop is whole if it started up to 31 days before the range, and ends up to 31 days after', async () => {
  const day = 24 * 60
  const parked = journey(
    { minutes: 30, speed: 15 },
    { minutes: 50 * day, everyMs: 3_600_000 },
    { minutes: 30, speed: 15 },
  )
  const deviceId = await stored(parked)
  const [begin, end] = [30, 30 + 50 * day]
  const minutes = (time = 0) => Math.round((time - T0) / MINUTE)
  const [stop] = await read(deviceId, { from: 25 * day, to: 26 * day })
  expect([minutes(stop?.from), minutes(stop?.to)]).toEqual([begin, end])
  const [late] = await read(deviceId, { from: 40 * day, to: 41 * day })
  expect(Math.abs(minutes(late?.from) - 9 * day)).toBeLessThanOrEqual(60)
  const [early] = await read(deviceId, { from: day, to: 2 * day })
  expect(Math.abs(minutes(early?.to) - 33 * day)).toBeLessThanOrEqual(60)
})

test('a call ends early once its client has disconnected', async () => {
  const deviceId = await stored(journey({ minutes: 600 }))
  const counted = countedStore()
  const range = { from: T0, to: T0 + 600 * MINUTE }
  await readTrips(
    { accountId: 'acc-1', deviceId, ...range, ...RULES },
    { store: counted, isWanted: () => false },
  )
  expect(counted.pages).toBeLessThanOrEqual(4)
})
