import { beforeAll, expect, test } from '@jest/globals'
import type { PositionReported } from '../../../../schemas/events/position-reported.ts'
import type { TrackStep } from '../../../../schemas/devices/read-models.ts'
import { deviceErased } from '../../../contracts/store-samples.ts'
import { T0 } from '../../../samples.ts'
import { bearer, startAdmin, type AdminHarness } from '../../admin-harness.ts'
import { journey, METRE, MINUTE, trackStep } from '../../../schemas/geo/journeys.ts'

let harness: AdminHarness
let headers: Record<string, string>

beforeAll(async () => {
  harness = await startAdmin()
  headers = await harness.createSession()
  await project('van', journey({ minutes: 20 }, { minutes: 30, speed: 15 }, { minutes: 10 }))
})

async function project(
  deviceId: string,
  steps: readonly TrackStep[],
  changes: Partial<PositionReported> = {},
): Promise<void> {
  const [first, ...others] = steps.map(({ timestamp, latitude, longitude }) => ({
    deviceId,
    timestamp,
    latitude,
    longitude,
    ...changes,
  }))
  if (first !== undefined) await harness.project(first, ...others)
}

const find = (query = '', deviceId = 'van') =>
  harness.api('GET', `/devices/${deviceId}/trips${query}`, { headers })

function iso(ms: number): string {
  return new Date(T0 + ms).toISOString()
}

const kinds = (data: { items?: readonly Record<string, unknown>[] } | undefined) =>
  data?.items?.map(({ kind, open }) => [kind, open])

const inGermany = expect.objectContaining({ country: 'DE' })

test('the trips of a device are between its stops, with overall totals', async () => {
  const { data } = (await find()).body
  const [start, end] = [iso(20 * MINUTE), iso(50 * MINUTE - 10_000)]
  expect(kinds(data)).toEqual([
    ['stop', null],
    ['trip', null],
    ['stop', null],
  ])
  const [stop, trip] = data?.items ?? []
  expect(stop).toEqual({
    kind: 'stop',
    open: null,
    from: iso(0),
    to: start,
    records: 121,
    position: { latitude: expect.closeTo(52, 4), longitude: expect.closeTo(13, 9) },
    place: inGermany,
  })
  expect(trip).toEqual({
    kind: 'trip',
    open: null,
    from: start,
    to: end,
    records: 178,
    distanceMetres: expect.any(Number),
    movingSeconds: 1_790,
    maxSpeed: expect.closeTo(15, 3),
    start: { latitude: 52, longitude: 13, place: inGermany },
    end: { latitude: expect.closeTo(52.2415, 3), longitude: 13, place: inGermany },
  })
  expect(data?.['totals']).toEqual({
    trips: 1,
    stops: 2,
    movingSeconds: 1_790,
    distanceMetres: trip?.['distanceMetres'],
    stoppedSeconds: 20 * 60 + 10 * 60,
  })
})

test('the distance, moving time and top speed of a trip are those of its track', async () => {
  const trip = (await find()).body.data?.items?.[1]
  const to = new Date(Date.parse(String(trip?.['to'])) + 1).toISOString()
  const path = `/devices/van/track?from=${String(trip?.['from'])}&to=${to}`
  const track = (await harness.api('GET', path, { headers })).body.data
  const { distanceMetres, movingSeconds, maxSpeed } = track ?? {}
  expect(trip).toMatchObject({ distanceMetres, movingSeconds, maxSpeed })
})

test('a trip or stop that reaches beyond the range is returned whole and marked', async () => {
  const [begin, end] = [iso(10 * MINUTE), iso(30 * MINUTE)]
  const all = (await find()).body.data?.items ?? []
  const inside = (await find(`?from=${begin}&to=${end}`)).body.data
  expect(kinds(inside)).toEqual([
    ['stop', 'before'],
    ['trip', 'after'],
  ])
  expect(inside?.items?.map(({ from, to }) => [from, to])).toEqual(
    all.slice(0, 2).map(({ from, to }) => [from, to]),
  )
  const within = (await find(`?from=${iso(25 * MINUTE)}&to=${end}`)).body.data
  expect(kinds(within)).toEqual([['trip', 'both']])
})

test('a trip or stop that starts or ends at the edge of the range is not marked', async () => {
  const first = (await find(`?from=${iso(0)}&to=${iso(20 * MINUTE)}`)).body.data
  expect(kinds(first)).toEqual([['stop', null]])
  const second = (await find(`?from=${iso(20 * MINUTE)}&to=${iso(50 * MINUTE - 10_000)}`)).body.data
  expect(kinds(second)).toEqual([['trip', null]])
  const inside = (await find(`?from=${iso(1)}&to=${iso(20 * MINUTE - 1)}`)).body.data
  expect(kinds(inside)).toEqual([['stop', 'both']])
})

test('imported positions form trips like all others', async () => {
  const steps = journey({ minutes: 20 }, { minutes: 30, speed: 15 }, { minutes: 10 })
  await project('history', steps, { imported: true, receivedAt: T0 + 90 * 24 * 60 * MINUTE })
  expect((await find('', 'history')).body.data).toEqual((await find()).body.data)
})

test('the trips of an erased device are a 404 until it reports again, then only new trips', async () => {
  await project('lorry', journey({ minutes: 20 }, { minutes: 30, speed: 15 }))
  expect(kinds((await find('', 'lorry')).body.data)).toHaveLength(2)
  const erasure = deviceErased({ deviceId: 'lorry', erasedAt: harness.clock.time })
  await harness.store.hideErased(erasure)
  expect((await find('', 'lorry')).status).toBe(404)
  await harness.projectErasure(erasure)
  expect((await find('', 'lorry')).status).toBe(404)
  const later = journey({ minutes: 15 }).map((step): TrackStep => ({
    ...step,
    timestamp: step.timestamp + 55 * MINUTE,
  }))
  await project('lorry', later, { receivedAt: harness.clock.time + 1_000 })
  const { data } = (await find(`?from=${iso(0)}&to=${iso(90 * MINUTE)}`, 'lorry')).body
  expect(data?.items).toMatchObject([{ kind: 'stop', from: iso(55 * MINUTE), records: 90 }])
})

test('a range without records has no trips', async () => {
  expect((await find(`?from=${iso(-2)}&to=${iso(-1)}`)).body.data).toEqual({
    items: [],
    nextCursor: null,
    totals: { trips: 0, stops: 0, distanceMetres: 0, movingSeconds: 0, stoppedSeconds: 0 },
  })
})

test('without a start, the trips cover the 31 days before the end', async () => {
  const day = 24 * 60 * MINUTE
  const drive = journey({ minutes: 30, speed: 15 })
  const shifted = (days: number) =>
    drive.map((step): TrackStep => ({ ...step, timestamp: step.timestamp - days * day }))
  await project('bus', [...shifted(40), ...shifted(20)])
  expect((await find('', 'bus')).body.data?.items).toHaveLength(1)
  expect((await find(`?from=${iso(-50 * day)}`, 'bus')).body.data?.items).toHaveLength(2)
})

test('the trips of a device are a 404 for an unknown device, or one that the key cannot see', async () => {
  expect((await find('', 'Van')).status).toBe(404)
  const { secret } = await harness.createKey({ scopes: ['positions:read'], deviceIds: ['x'] })
  const answer = await harness.api('GET', '/devices/van/trips', { headers: bearer(secret) })
  expect(answer.status).toBe(404)
})

test('a range of 400 days is accepted, a longer one is not, and a request needs no range', async () => {
  expect((await find('?from=2024-01-01T00:00:00Z&to=2025-02-04T00:00:00Z')).status).toBe(200)
  expect((await find('?from=2024-01-01T00:00:00Z&to=2025-02-04T00:00:00.001Z')).status).toBe(400)
  expect((await find()).status).toBe(200)
})

test('pages of trips together equal a single page; the first has the overall totals', async () => {
  const whole = (await find()).body.data
  const pages = []
  for (let cursor = ''; ;) {
    const { data } = (await find(`?limit=2${cursor}`)).body
    pages.push(data)
    if (data?.nextCursor === null) break
    cursor = `&cursor=${data?.nextCursor ?? ''}`
  }
  expect(pages.map((page) => page?.items?.length)).toEqual([2, 1])
  expect(pages.flatMap((page) => page?.items)).toEqual(whole?.items)
  expect(pages.map((page) => page?.['totals'])).toEqual([whole?.['totals'], undefined])
})

test('a cursor is rejected with other parameters', async () => {
  const { nextCursor } = (await find('?limit=1')).body.data ?? {}
  const cursor = `&cursor=${nextCursor ?? ''}`
  expect((await find(`?limit=2${cursor}`)).status).toBe(200)
  for (const others of ['?stopSeconds=301', '?stopMetres=101', `?from=${iso(0)}`]) {
    expect((await find(others + cursor)).body.details?.[0]?.field).toBe('cursor')
  }
  expect((await find(`?limit=1${cursor}`, 'history')).status).toBe(400)
})

test('trips that start at the same time, as in a history of minutes, are all on some page', async () => {
  const north = [0, 250, 1_000, 1_250, 2_000, 2_250]
  const steps = north.map((metres, n): TrackStep => {
    const latitude = 50 + metres * METRE
    return trackStep({ timestamp: T0 - 500 * MINUTE, latitude, longitude: 13 }, n)
  })
  await project('moment', steps)
  const query = `?from=${iso(-501 * MINUTE)}&to=${iso(0)}&limit=1`
  const starts: unknown[] = []
  for (let cursor = ''; starts.length < 9;) {
    const { data } = (await find(`${query}${cursor}`, 'moment')).body
    starts.push(
      ...(data?.items ?? []).map(
        (item) => (item as never as { start: { latitude: number } }).start.latitude,
      ),
    )
    if (!data?.nextCursor) break
    cursor = `&cursor=${data.nextCursor}`
  }
  expect(starts).toEqual([0, 2, 4].map((n) => steps[n]?.latitude))
})

test('a page has at most 2000 items, however many the range has', async () => {
  const day = 24 * 60 * MINUTE
  // Two records a second apart and 250 m, then nothing for an hour: each is a trip.
  const hops = Array.from({ length: 2_100 }, (_, n): TrackStep[] => {
    const at = T0 - 100 * day + n * 61 * MINUTE
    const [here, there] = [50, 50 + 250 * METRE]
    return [
      trackStep({ timestamp: at, latitude: here, longitude: 13 }, n),
      trackStep({ timestamp: at + 1_000, latitude: there, longitude: 13 }, n),
    ]
  })
  await project('hopper', hops.flat())
  const query = `?from=${iso(-100 * day)}&to=${iso(0)}`
  const first = (await find(query, 'hopper')).body.data
  expect(first?.items).toHaveLength(2_000)
  expect(first?.['totals']).toMatchObject({ trips: 2_100, stops: 0 })
  const second = (await find(`${query}&cursor=${first?.nextCursor ?? ''}`, 'hopper')).body.data
  expect(second).toEqual({ items: expect.any(Array), nextCursor: null })
  const begins = [first, second].flatMap((page) => page?.items?.map(({ from }) => from))
  expect(new Set(begins).size).toBe(2_100)
})

test('the smallest and the largest stop settings are accepted', async () => {
  expect((await find('?stopSeconds=60&stopMetres=20')).status).toBe(200)
  const { data } = (await find('?stopSeconds=86400&stopMetres=5000')).body
  expect(kinds(data)).toEqual([['trip', null]])
})
