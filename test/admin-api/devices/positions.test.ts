import { beforeAll, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { writeCursor } from '../../../admin-api/http/cursor.ts'
import type { PositionReported } from '../../../schemas/events/position-reported.ts'
import { T0 } from '../../samples.ts'
import { startAdmin, type AdminHarness } from '../admin-harness.ts'

let harness: AdminHarness
let headers: Record<string, string>
let events: PositionReported[]

/** 23 records, several of one and the same time. */
beforeAll(async () => {
  harness = await startAdmin()
  headers = await harness.createSession()
  const times = Array.from({ length: 23 }, (_, index) => T0 + Math.floor(index / 4) * 1000)
  const changes = times.map((timestamp) => ({ deviceId: 'tug', timestamp }))
  events = await harness.project({ deviceId: 'other' }, ...changes)
  events = events.slice(1)
})

/** In the order sent, if their times are equal. */
function inOrder(records: readonly PositionReported[]): string[] {
  return [...records].sort((a, b) => a.timestamp - b.timestamp).map(({ recordId }) => recordId)
}

async function page(query: string, deviceId = 'tug') {
  const answer = await harness.api('GET', `/devices/${deviceId}/positions${query}`, { headers })
  return { ...answer, ids: (answer.body.data?.items ?? []).map(({ recordId }) => recordId) }
}

async function allPages(query: string, between?: () => Promise<unknown>) {
  const records = await harness.allPages(`/devices/tug/positions${query}`, { headers, between })
  return records.map(({ recordId }) => recordId)
}

test('a record is flat, and the same in the history and when read by its id', async () => {
  const [event] = await harness.project({ deviceId: 'flat/1', speed: 0, heading: 359.5 })
  const view = {
    recordId: event?.recordId,
    deviceId: 'flat/1',
    latitude: event?.latitude,
    longitude: event?.longitude,
    timestamp: new Date(event?.timestamp ?? NaN).toISOString(),
    receivedAt: new Date(event?.receivedAt ?? NaN).toISOString(),
    speed: 0,
    heading: 359.5,
  }
  const list = await page('', 'flat%2F1')
  expect(list.body.data).toEqual({ items: [view], nextCursor: null })
  const one = await harness.api('GET', `/positions/${view.recordId}`, { headers })
  expect(one.body.data).toEqual(view)
})

test('points of one minute keep their order in history, track, trips and exports', async () => {
  const minutes = [10, 10, 10, 11, 11, 11, 12, 12]
  const deviceId = 'walker'
  const sent = minutes.map((minute, n) => ({
    deviceId,
    receivedAt: T0,
    timestamp: T0 + minute * 60_000,
    imported: true as const,
    latitude: 48.1 + n * 0.002,
    longitude: 11.5,
    recordId: `01KDVN9C00${'Z'.repeat(15)}${9 - n}`,
  }))
  const ids = (await harness.project(sent[0]!, ...sent.slice(1))).map(({ recordId }) => recordId)
  expect((await page('?order=asc', deviceId)).ids).toEqual(ids)
  expect((await page('?order=desc', deviceId)).ids).toEqual([...ids].reverse())
  const range = `from=${new Date(T0).toISOString()}&to=${new Date(T0 + 3_600_000).toISOString()}`
  const track = await harness.api('GET', `/devices/walker/track?${range}`, { headers })
  const trips = await harness.api('GET', `/devices/walker/trips?${range}`, { headers })
  for (const { data } of [track.body, trips.body]) {
    const { distanceMetres, totals = { distanceMetres } } = data as never as {
      distanceMetres: number
      totals?: { distanceMetres: number }
    }
    expect(totals.distanceMetres).toBeCloseTo(1_556.7, 0)
  }
  for (const format of ['gpx', 'csv', 'geojson', 'ndjson']) {
    const file = await harness.api('GET', `/devices/walker/positions?format=${format}`, { headers })
    const latitudes = sent.map(({ latitude }) => file.text.indexOf(String(latitude)))
    expect([...latitudes].sort((a, b) => a - b)).toEqual(latitudes)
    expect(latitudes[0]).toBeGreaterThan(0)
  }
  const status = await harness.api('GET', '/devices/walker', { headers })
  expect(status.body.data).toMatchObject({ lastPosition: { latitude: sent.at(-1)?.latitude } })
})

test('a cursor of an earlier version is a 400 that says to start again', async () => {
  const filter = { deviceId: 'tug', order: 'asc' }
  const list = { name: 'positions', accountId: 'acc-1', filter }
  const cursor = writeCursor(list, [T0, events[3]?.recordId ?? ''])
  const answer = await page(`?order=asc&cursor=${cursor}`)
  expect(answer).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('start again without one') },
  })
})

test('a record that does not exist, or not yet, is a 404', async () => {
  for (const recordId of ['01KDVN9C00UNKNOWN000000000', 'x', '%00', '$ne']) {
    expect((await harness.api('GET', `/positions/${recordId}`, { headers })).status).toBe(404)
  }
})

test('a history starts with the newest record, or on request with the oldest', async () => {
  const oldestFirst = inOrder(events)
  expect((await page('')).ids).toEqual([...oldestFirst].reverse())
  expect((await page('?order=desc')).ids).toEqual([...oldestFirst].reverse())
  expect((await page('?order=asc')).ids).toEqual(oldestFirst)
})

test('a history includes `from` and ends before `to`', async () => {
  const from = new Date(T0 + 1000).toISOString()
  const to = new Date(T0 + 3000).toISOString()
  const within = events.filter((e) => e.timestamp >= T0 + 1000 && e.timestamp < T0 + 3000)
  expect((await page(`?from=${from}&to=${to}&order=asc`)).ids).toEqual(inOrder(within))
  expect((await page('?from=20260101T030001%2B0300&to=2026-01-01T00:00:03&order=asc')).ids).toEqual(
    inOrder(within),
  )
})

test('a history is empty for a device without records in the range, and a 404 for an unknown device', async () => {
  expect((await page('?from=2026-05-01T00:00:00Z')).body.data).toEqual({
    items: [],
    nextCursor: null,
  })
  expect((await page('', 'nobody')).status).toBe(404)
})

test('a history in pages of any size contains each record once and in order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 30 }), fc.boolean(), async (limit, ascending) => {
      const order = ascending ? 'asc' : 'desc'
      const seen = await allPages(`?order=${order}&limit=${limit}`)
      expect(seen).toEqual(ascending ? inOrder(events) : inOrder(events).reverse())
    }),
    { numRuns: 30 },
  )
})

test.each(['asc', 'desc'])(
  'a history paged %s while records arrive neither skips nor repeats any',
  async (order) => {
    const deviceId = 'tug'
    let added = 0
    const before = (await page('?order=asc&limit=1000')).ids
    const seen = await allPages(`?order=${order}&limit=4`, async () => {
      added += 1
      if (added > 8) return
      // Newer records, late ones, and records at times that already have some.
      await harness.project(
        { deviceId, timestamp: T0 + 90_000 + added },
        { deviceId, timestamp: T0 - 90_000 - added },
        { deviceId, timestamp: T0 + 2000 },
      )
    })
    expect(new Set(seen).size).toBe(seen.length)
    expect(seen).toEqual(expect.arrayContaining(before))
  },
)

test('a history rejects a cursor of another account, device, order or range', async () => {
  const cursor = (await page('?limit=2')).body.data?.nextCursor ?? ''
  expect((await page(`?limit=3&cursor=${cursor}`)).status).toBe(200)
  const refused = [
    await page(`?cursor=${cursor}&order=asc`),
    await page(`?cursor=${cursor}&from=2026-01-01T00:00:00Z`),
    await page(`?cursor=${cursor}&to=2026-01-02T00:00:00Z`),
    await page(`?cursor=${cursor}`, 'other'),
    await harness.api('GET', `/devices?cursor=${cursor}`, { headers }),
    await harness.api('GET', `/keys?cursor=${cursor}`, { headers }),
  ]
  const { secret } = await harness.createKey({ accountId: 'acc-2' })
  refused.push(
    await harness.api('GET', `/devices/tug/positions?cursor=${cursor}`, {
      headers: { Authorization: `Bearer ${secret}` },
    }),
  )
  for (const answer of refused) {
    expect(answer.status).toBe(400)
    expect(answer.body.details?.[0]?.field).toBe('cursor')
  }
})
