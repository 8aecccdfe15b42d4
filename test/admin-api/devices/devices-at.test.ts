import { beforeAll, expect, test } from '@jest/globals'
import { T0 } from '../../samples.ts'
import { bearer, startAdmin, type AdminHarness } from '../admin-harness.ts'

const MINUTE = 60_000

let harness: AdminHarness
let headers: Record<string, string>
let yard: string

const iso = (minute: number) => new Date(T0 + minute * MINUTE).toISOString()

beforeAll(async () => {
  harness = await startAdmin()
  headers = await harness.createSession()
  const report = (deviceId: string, minute: number, longitude: number, receivedMinute = minute) => {
    const timestamp = T0 + minute * MINUTE
    const receivedAt = T0 + receivedMinute * MINUTE
    return { deviceId, latitude: 48, longitude, timestamp, receivedAt, speed: minute, keyId: 'k' }
  }
  await harness.project(
    report('van-1', 0, 16),
    report('van-1', 10, 16.1),
    report('van-1', 40, 16.2),
    report('van-2', 12, 16.1),
    report('van-3', 30, 16.3),
    // Recorded without a network.
    report('van-4', 20, 16.4, 50),
  )
  const shape = { type: 'circle', latitude: 48, longitude: 16.1, radius: 500 }
  const body = { name: 'Yard', shape }
  yard = String((await harness.api('POST', '/geofences', { headers, body })).body.data?.['id'])
  const name = { name: 'First', labels: ['night'] }
  await harness.api('PATCH', '/devices/van-1', { headers, body: name })
})

const list = (query: string, as = headers) =>
  harness.api('GET', `/devices?${query}`, { headers: as })

async function ids(query: string) {
  return (await list(query)).body.data?.items?.map(({ deviceId }) => deviceId)
}

test('devices as of a past time show their last position and status at that time', async () => {
  const { items } = (await list(`at=${iso(21)}`)).body.data ?? {}
  expect(items).toMatchObject([
    {
      deviceId: 'van-1',
      name: 'First',
      labels: ['night'],
      status: 'idle',
      lastSeenAt: iso(10),
      lastKeyId: 'k',
      lastPosition: { longitude: 16.1, timestamp: iso(10), speed: 10 },
      inside: [yard],
    },
    { deviceId: 'van-2', status: 'idle', inside: [yard] },
    { deviceId: 'van-3', status: 'offline', inside: [] },
    { deviceId: 'van-4', status: 'online', lastSeenAt: iso(20), inside: [] },
  ])
  expect(items?.[2]).not.toHaveProperty('lastPosition')
  expect(items?.[2]).not.toHaveProperty('lastSeenAt')
  const [exact] = (await list(`at=${iso(10)}`)).body.data?.items ?? []
  expect(exact).toMatchObject({ lastPosition: { timestamp: iso(10) } })
})

test('a device that sent an old position just before is alive then', async () => {
  const four = async (minute: number) => (await list(`at=${iso(minute)}&q=van-4`)).body.data?.items
  expect(await four(51)).toMatchObject([{ status: 'online', lastSeenAt: iso(50) }])
  expect(await four(49)).toMatchObject([{ status: 'idle', lastSeenAt: iso(20) }])
})

test('devices as of a past time can be filtered and paged', async () => {
  const at = `at=${iso(21)}`
  expect(await ids(`${at}&status=idle`)).toEqual(['van-1', 'van-2'])
  expect(await ids(`${at}&geofenceId=${yard}`)).toEqual(['van-1', 'van-2'])
  expect(await ids(`at=${iso(5)}&geofenceId=${yard}`)).toEqual([])
  expect(await ids(`${at}&bbox=16.3,47,17,49`)).toEqual(['van-4'])
  expect(await ids(`${at}&bbox=16.3,47,15,49`)).toEqual(['van-4'])
  expect(await ids(`${at}&label=night`)).toEqual(['van-1'])
  expect(await ids(`${at}&sort=-deviceId`)).toEqual(['van-4', 'van-3', 'van-2', 'van-1'])
  const paged = async (filter: string) =>
    (await harness.allPages(`/devices?${at}&limit=1${filter}`, { headers })).map(
      (d) => d['deviceId'],
    )
  expect(await paged('')).toEqual(['van-1', 'van-2', 'van-3', 'van-4'])
  expect(await paged('&status=idle')).toEqual(['van-1', 'van-2'])
  expect(await paged('&q=van&sort=-deviceId')).toEqual(['van-4', 'van-3', 'van-2', 'van-1'])
})

test('filters on current state are rejected for past times, naming each filter', async () => {
  const { status, body } = await list(`at=${iso(21)}&keyId=k&ruleId=r&sort=-lastSeenAt`)
  expect(status).toBe(400)
  expect(body.details?.map(({ field }) => field)).toEqual(['keyId', 'ruleId', 'sort'])
})

test('a key reads the past only with the scope for positions, and only of its devices', async () => {
  const key = async (...scopes: ('devices:read' | 'positions:read')[]) =>
    bearer((await harness.createKey({ scopes, deviceIds: ['van-2'] })).secret)
  const refused = await list(`at=${iso(21)}`, await key('devices:read'))
  expect([refused.status, refused.body.message]).toEqual([
    403,
    'this API key lacks the scope positions:read',
  ])
  const { body } = await list(`at=${iso(21)}`, await key('devices:read', 'positions:read'))
  expect(body.data?.items).toMatchObject([{ deviceId: 'van-2' }])
})
