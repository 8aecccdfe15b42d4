import { afterEach, expect, jest, test } from '@jest/globals'
import { eventually } from '../../eventually.ts'
import { fakeTimers } from '../../fake-timers.ts'
import {
  harness,
  headers,
  iso,
  itemsOf,
  MINUTE,
  newToken,
  shared,
  startWithDevices,
} from './shares-harness.ts'

afterEach(() => void jest.useRealTimers())

/** The times of a report, `ms` after now; negative: before. */
function received(ms: number): { timestamp: number; receivedAt: number } {
  const time = harness.clock.now() + ms
  return { timestamp: time, receivedAt: time }
}

test('a share without the current position shows no position from before it was created', async () => {
  await startWithDevices()
  const token = await newToken({ showsNow: false }, MINUTE)
  const { items } = (await shared(token)).body.data ?? {}
  expect(items).toMatchObject([{ name: 'Device 1', timestamp: iso(-MINUTE) }])
  const list = await harness.api('GET', '/shares', { headers })
  expect(list.body.data?.items?.[0]).toMatchObject({ showsNow: false })
})

test('a share starts with one last known position, and no earlier trail', async () => {
  await startWithDevices()
  await harness.project({ deviceId: 'tug', ...received(-MINUTE / 2), latitude: 3 })
  const body = { deviceIds: ['tug'], trailMinutes: 1_440 }
  const [first, second] = [await newToken(body, 0), await newToken(body, 0)]
  expect(await itemsOf(first)).toMatchObject([
    { name: 'Device 1', latitude: 3, timestamp: iso(-MINUTE / 2), trail: [] },
  ])
  const known = await shared(await newToken({ deviceIds: ['tug'] }, 0))
  expect(known.body.data?.items?.[0]).not.toHaveProperty('trail')
  expect(known.text).not.toMatch(/recordId|lastKnown/)
  harness.clock.time += MINUTE
  await harness.project({ deviceId: 'tug', ...received(0), latitude: 4 })
  expect(await itemsOf(second)).toMatchObject([{ latitude: 4, trail: [{ latitude: 4 }] }])
})

test('late reports never add a second last known position to a share', async () => {
  await startWithDevices()
  const body = { deviceIds: ['tug'], trailMinutes: 1_440, names: { tug: 'Tug' } }
  const [first, second] = [await newToken(body, 0), await newToken(body, 0)]
  const empty = await newToken({ ...body, showsNow: false }, 0)
  const place = { name: 'Tug', latitude: 1, timestamp: iso(-MINUTE), trail: [] }
  expect(await itemsOf(first)).toMatchObject([place])
  const begun = harness.clock.now()
  harness.clock.time += 5 * MINUTE
  // A tracker that was offline sends its backlog.
  for (const ago of [0.75, 0.5, 0.25]) {
    const timestamp = begun - ago * MINUTE
    await harness.project({ deviceId: 'tug', timestamp, receivedAt: harness.clock.now() })
  }
  // It was not yet projected when the share was created.
  await harness.project({ deviceId: 'tug', timestamp: begun - 1, receivedAt: begun - 1 })
  harness.clock.time = begun
  expect(await itemsOf(second)).toMatchObject([place])
  expect(await itemsOf(empty)).toEqual([])
})

test('a share shows nothing received before its creation, even if the tracker’s clock is ahead', async () => {
  await startWithDevices()
  const ahead = (ms: number, minutes = 100) => {
    const receivedAt = harness.clock.now() + ms
    return { deviceId: 'tug', receivedAt, timestamp: receivedAt + minutes * MINUTE }
  }
  for (let n = 100; n > 0; n -= 1) await harness.project({ ...ahead(-n * MINUTE), latitude: n })
  const body = { deviceIds: ['tug'], trailMinutes: 1_440 }
  const since = { ...body, showsNow: false }
  const tokens = []
  for (const one of [body, since, body, since]) tokens.push(await newToken(one, 0))
  const [now = '', empty = '', ...later] = tokens
  expect(await itemsOf(now)).toMatchObject([{ latitude: 1, trail: [] }])
  expect(await itemsOf(empty)).toEqual([])
  harness.clock.time += MINUTE
  const timestamp = new Date(harness.clock.now() + 100 * MINUTE).toISOString()
  await harness.project({ ...ahead(0), latitude: 50 })
  const seen = [{ latitude: 50, timestamp, trail: [{ latitude: 50, timestamp }] }]
  for (const token of later) expect(await itemsOf(token)).toMatchObject(seen)
})

test('a trail is found beyond many positions that the share does not show', async () => {
  await startWithDevices()
  const token = await newToken({ deviceIds: ['tug'], trailMinutes: 60, showsNow: false }, 0)
  const begun = harness.clock.now()
  harness.clock.time += 60 * MINUTE
  await harness.project({ deviceId: 'tug', ...received(0), latitude: 50 })
  const early = Array.from({ length: 2_500 }, (_, n) => ({
    deviceId: 'tug',
    receivedAt: begun - 1,
    timestamp: begun + 61 * MINUTE + n,
  }))
  await harness.project(early[0] ?? {}, ...early.slice(1))
  expect(await itemsOf(token)).toMatchObject([{ latitude: 50, trail: [{ latitude: 50 }] }])
})

test('a share has a trail of its minutes, and nothing from before its creation', async () => {
  fakeTimers('performance')
  await startWithDevices()
  const body = { trailMinutes: 2, deviceIds: ['tug'], showsNow: false }
  const token = await newToken(body, 0)
  const items = async () => (await shared(token)).body.data?.items
  expect(await items()).toEqual([])
  const begun = harness.clock.now()
  const times = [-1, 0, 60_000, 120_000, 180_000].map((ms) => begun + ms)
  harness.clock.time += 180_000
  for (const timestamp of times) {
    await harness.project({ deviceId: 'tug', timestamp, receivedAt: harness.clock.now() })
  }
  // Viewers get the same response for a moment.
  const again = await newToken(body, 0)
  expect((await shared(again)).body.data?.items).toMatchObject([{ trail: [{}] }])
  expect(await items()).toEqual([])
  jest.advanceTimersByTime(2_100)
  await eventually(async () => (await items())?.length === 1)
  const trail = times.slice(2).map((time) => ({ timestamp: new Date(time).toISOString() }))
  expect(await items()).toMatchObject([{ trail }])
})

test('a trail omits a single position that a receiver without a fix reports', async () => {
  await startWithDevices()
  const token = await newToken({ deviceIds: ['tug'], trailMinutes: 60, showsNow: false }, 0)
  const begun = harness.clock.now()
  harness.clock.time += 10 * MINUTE
  for (const [n, latitude] of [50, 50.001, 0, 50.002, 50.003].entries()) {
    const at = begun + (n + 1) * MINUTE
    await harness.project({ deviceId: 'tug', timestamp: at, receivedAt: at, latitude })
  }
  const trail = [50, 50.001, 50.002, 50.003].map((latitude) => ({ latitude }))
  expect(await itemsOf(token)).toMatchObject([{ latitude: 50.003, trail }])
})

test('a share names the town near each device, never a geofence of the account', async () => {
  await startWithDevices()
  const shape = { type: 'circle', latitude: 52.5388, longitude: 13.4244, radius: 500 }
  await harness.api('POST', '/geofences', { headers, body: { name: 'Bad payer', shape } })
  const { latitude, longitude } = shape
  await harness.project({ deviceId: 'tug', ...received(-MINUTE / 2), latitude, longitude })
  const token = await newToken({ deviceIds: ['tug'] }, 0)
  expect(await itemsOf(token)).toMatchObject([
    { place: { name: 'Prenzlauer Berg', region: 'Berlin', country: 'DE' } },
  ])
  expect((await shared(token)).text).not.toContain('Bad payer')
})
