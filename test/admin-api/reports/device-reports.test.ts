import { beforeAll, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { TrackStep } from '../../../schemas/devices/read-models.ts'
import type { PositionReported } from '../../../schemas/events/position-reported.ts'
import { factId, type DeviceFact } from '../../../schemas/facts/facts.ts'
import type { Store } from '../../../store/store.ts'
import { deviceErased } from '../../contracts/store-samples.ts'
import { T0 } from '../../samples.ts'
import { journey, MINUTE } from '../../schemas/geo/journeys.ts'
import { bearer, startAdmin, type AdminHarness } from '../admin-harness.ts'
import { reportOfTrips, type Report } from './report-of-trips.ts'

const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** Two days before the clocks of Europe change. */
const MARCH = Date.parse('2026-03-27T00:00:00Z')
const WORKDAYS = [1, 2, 3, 4].flatMap(() => [
  { minutes: 8 * 60, everyMs: 5 * MINUTE },
  { minutes: 90, speed: 15, everyMs: MINUTE },
  { minutes: 6 * 60, everyMs: 5 * MINUTE },
  { minutes: 70, speed: 20, everyMs: MINUTE },
  { minutes: 7 * 60 + 20, everyMs: 5 * MINUTE },
])

let harness: AdminHarness
let headers: Record<string, string>
let retention: number | undefined
/** Where the histories end that were read. */
const read = new Set<number | undefined>()

beforeAll(async () => {
  harness = await startAdmin({ wrapStore: observed })
  harness.clock.time = MARCH + 10 * DAY
  headers = await harness.createSession()
  await project('van-1', journey(...WORKDAYS))
  await project('van-2', journey(...WORKDAYS.slice(0, 5)))
  await harness.store.changeDeviceSettings({
    accountId: 'acc-1',
    deviceId: 'van-1',
    changedAt: MARCH,
    name: '=Van',
    labels: ['north'],
  })
})

function observed(store: Store): Store {
  return {
    ...store,
    retentionDays: async () => retention ?? store.retentionDays(),
    pageTrack: (query) => {
      read.add(query.to)
      return store.pageTrack(query)
    },
  }
}

/** Stores the steps of a journey from T0 on as if it began in March. */
async function project(
  deviceId: string,
  steps: readonly TrackStep[],
  changes: Partial<PositionReported> = {},
): Promise<void> {
  const [first, ...others] = steps.map(({ timestamp, latitude, longitude }) => {
    const at = timestamp - T0 + MARCH
    return { deviceId, timestamp: at, receivedAt: at, latitude, longitude, ...changes }
  })
  if (first !== undefined) await harness.project(first, ...others)
}

async function find(query: string, as = headers) {
  const answer = await harness.api('GET', `/reports/devices?${query}`, { headers: as })
  return { ...answer, items: (answer.body.data?.items ?? []) as unknown as Report[] }
}

function range(from: number, to: number): string {
  return `from=${new Date(from).toISOString()}&to=${new Date(to).toISOString()}`
}

const FOUR_DAYS = range(MARCH, MARCH + 4 * DAY)

/** What the list of trips says about the same range. */
async function expectedOf(deviceId: string, query: string): Promise<Report> {
  const { from, to, zone = 'UTC', by } = Object.fromEntries(new URLSearchParams(query))
  const path = `/devices/${deviceId}/trips?${range(Date.parse(from!), Date.parse(to!))}`
  const { body } = await harness.api('GET', path, { headers })
  return reportOfTrips(body.data?.items ?? [], { from: from!, to: to!, zone, by })
}

test('a report’s totals of each device equal those of its list of trips', async () => {
  const { items } = await find(FOUR_DAYS)
  expect(items.map(({ deviceId }) => deviceId)).toEqual(['van-1', 'van-2'])
  expect(items[0]).toMatchObject(await expectedOf('van-1', FOUR_DAYS))
  expect(items[0]).toMatchObject({
    name: '=Van',
    labels: ['north'],
    trips: 8,
    stops: 9,
    raised: 0,
    visits: 0,
    distanceMetres: expect.closeTo(4 * (90 * 900 + 70 * 1_200), -3),
    drivingSeconds: 4 * 160 * 60,
    firstStart: new Date(MARCH + 8 * HOUR).toISOString(),
  })
  expect(items[0]).not.toHaveProperty('periods')
})

test('days, weeks and months of any zone add up, across changes of its clocks', async () => {
  const zones = ['UTC', 'Europe/Vienna', 'America/St_Johns', 'Asia/Kathmandu', 'Pacific/Apia']
  const leg = fc.record({
    minutes: fc.integer({ min: 5, max: 1_800 }),
    speed: fc.constantFrom(0, 0, 2, 4),
    everyMs: fc.constantFrom(2 * MINUTE, 8 * MINUTE),
    silent: fc.constantFrom(false, false, false, true),
  })
  let devices = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(leg, { minLength: 1, maxLength: 8 }),
      fc.constantFrom(...zones),
      fc.constantFrom('day', 'week', 'month'),
      fc.tuple(fc.integer({ min: -DAY, max: 6 * DAY }), fc.integer({ min: 0, max: 6 * DAY })),
      fc.array(leg, { minLength: 1, maxLength: 3 }),
      async (legs, zone, by, [after, lasting], late) => {
        devices += 1
        const deviceId = `random-${devices}`
        await project(deviceId, journey({ minutes: 6, everyMs: MINUTE }, ...legs))
        const bounds = range(MARCH + after, MARCH + after + lasting)
        const query = `${bounds}&zone=${zone}&by=${by}&deviceId=${deviceId}`
        expect((await find(query)).items).toMatchObject([await expectedOf(deviceId, query)])
        // Now the totals are in memory.
        await project(deviceId, journey(...late), { receivedAt: harness.clock.time })
        expect((await find(query)).items).toMatchObject([await expectedOf(deviceId, query)])
      },
    ),
    { numRuns: 40, endOnFailure: true },
  )
})

test('a second report reads no history, and after a late record only that of its month', async () => {
  await project('month', journey(...WORKDAYS, ...WORKDAYS))
  const months = `${range(MARCH, MARCH + 8 * DAY)}&deviceId=month`
  const { text } = await find(months)
  expect(read.size).toBeGreaterThan(1)
  read.clear()
  expect((await find(months)).text).toBe(text)
  expect(read.size).toBe(0)
  const [late] = journey({ minutes: 1, everyMs: MINUTE })
  await project('month', [{ ...late!, timestamp: T0 + DAY + 1 }])
  await find(months)
  expect([...read]).toEqual([Date.parse('2026-05-02T00:00:00Z')])
})

test('the report of an erased device starts again, even with as many records as before', async () => {
  const morning = (latitude: number) =>
    journey({ minutes: 60, speed: 15 }).map((step) => ({ ...step, latitude }))
  await project('lorry', journey({ minutes: 60, speed: 15 }))
  const query = `${FOUR_DAYS}&deviceId=lorry`
  expect((await find(query)).items).toMatchObject([{ trips: 1, stops: 0 }])
  const erasure = deviceErased({ deviceId: 'lorry', erasedAt: harness.clock.time })
  await harness.store.hideErased(erasure)
  expect((await find(query)).items).toEqual([])
  await harness.projectErasure(erasure)
  await project('lorry', morning(50), { receivedAt: harness.clock.time + 1 })
  expect((await find(query)).items).toMatchObject([{ trips: 0, stops: 1 }])
})

test('records removed by retention leave reports, even if as many late ones arrive', async () => {
  retention = 8
  const drive = journey({ minutes: 60, speed: 15 })
  const later = drive.map((step) => ({ ...step, timestamp: step.timestamp + 3 * DAY }))
  await project('old', drive)
  const query = `${FOUR_DAYS}&deviceId=old`
  expect((await find(query)).items).toMatchObject([{ trips: 1 }])
  await harness.store.expire(MARCH + 30 * MINUTE)
  await project('old', later.slice(0, 180), { receivedAt: harness.clock.time })
  expect((await find(query)).items).toMatchObject([await expectedOf('old', query)])
  retention = undefined
})

test('rules raised and geofences entered count on the days on which they happened', async () => {
  await project('bus', journey({ minutes: 30 }))
  const name = { accountId: 'acc-1', deviceId: 'bus' }
  const state = { sequence: 3, applied: {}, due: null }
  const all = [MARCH + HOUR, MARCH + HOUR, MARCH + DAY + HOUR, MARCH + 9 * DAY]
  const facts = all.map((at, n): DeviceFact => {
    const about =
      n === 0
        ? ({ type: 'geofence.entered', geofence: { id: 'g', name: 'Yard', revision: 1 } } as const)
        : ({ type: 'rule.raised', rule: { id: 'r', name: 'Fast', revision: 1 } } as const)
    const fact = { ...name, ...about, sequence: n + 1, at, decidedAt: at, inside: [] }
    return { ...fact, id: factId(fact, '') }
  })
  await harness.store.judgeFacts({ devices: [{ ...name, judge: () => ({ state, facts }) }] })
  const { items } = await find(`${FOUR_DAYS}&deviceId=bus&by=day`)
  expect(items).toMatchObject([{ raised: 2, visits: 1, stops: 1 }])
  expect(items[0]?.periods).toMatchObject([
    { from: new Date(MARCH).toISOString(), raised: 1, visits: 1, stops: 1 },
    { from: new Date(MARCH + DAY).toISOString(), raised: 1, visits: 0, stops: 0 },
  ])
})

test('pages and a file have each device once; a label selects, a key sees only its devices', async () => {
  const all = (await find(`${FOUR_DAYS}&limit=1000`)).items
  const paged = await harness.allPages(`/reports/devices?${FOUR_DAYS}&limit=7`, { headers })
  expect(paged).toEqual(all)
  expect((await find(`${FOUR_DAYS}&label=north`)).items).toEqual(all.slice(-2, -1))
  expect((await find(`${FOUR_DAYS}&deviceId=van-2&label=north`)).items).toEqual([])
  const scopes = ['positions:read'] as const
  const { secret } = await harness.createKey({ scopes, deviceIds: ['van-2', 'gone'] })
  expect((await find(FOUR_DAYS, bearer(secret))).items).toMatchObject([{ deviceId: 'van-2' }])
  expect((await find(`${FOUR_DAYS}&deviceId=van-1`, bearer(secret))).items).toEqual([])
  const { text, headers: answered } = await find(`${FOUR_DAYS}&by=day&label=north&format=csv`)
  expect(answered.get('content-disposition')).toBe('attachment; filename="reports.csv"')
  const lines = text.split('\r\n')
  expect(lines).toHaveLength(1 + 4 + 1)
  expect(lines[0]).toMatch(/^deviceId,name,labels,from,to,distanceMetres,drivingSeconds,trips,/)
  expect(lines[1]).toMatch(/^van-1,'=Van,north,2026-03-27T00:00:00.000Z,2026-03-28T00:00:00.000Z,1/)
})
