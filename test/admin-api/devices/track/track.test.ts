import { beforeAll, expect, test } from '@jest/globals'
import { T0 } from '../../../samples.ts'
import { bearer, startAdmin, type AdminHarness } from '../../admin-harness.ts'

let harness: AdminHarness
let headers: Record<string, string>

beforeAll(async () => {
  harness = await startAdmin()
  headers = await harness.createSession()
  const drive = Array.from({ length: 2_500 }, (_, n) => ({
    deviceId: 'tug',
    timestamp: T0 + n * 1_000 + (n >= 1_200 ? 600_000 : 0),
    latitude: 52 + n / 10_000,
    longitude: 13,
    speed: n % 7,
    ...(n === 0 && { altitude: 33, attributes: { fuel: 12.5 }, imported: true as const }),
  }))
  const [first, ...others] = drive
  if (first !== undefined) await harness.project(first, ...others)
})

const find = (query = '', deviceId = 'tug') =>
  harness.api('GET', `/devices/${deviceId}/track${query}`, { headers })

const COLUMNS = [
  ...['timestamp', 'latitude', 'longitude', 'accuracy', 'altitude'],
  ...['speed', 'heading', 'battery', 'attributes', 'imported', 'recordId'],
]

function iso(ms: number): string {
  return new Date(T0 + ms).toISOString()
}

test('the track of a device is thinned out to the requested number of points, with totals of all records', async () => {
  const { data } = (await find('?points=100')).body
  expect(data).toMatchObject({
    total: 2_500,
    shown: 100,
    maxSpeed: 6,
    columns: COLUMNS,
    gaps: [{ from: iso(1_199_000), to: iso(1_800_000) }],
    bounds: { west: 13, south: 52, east: 13, north: 52.2499 },
  })
  expect(data?.['toleranceMetres']).toBeLessThan(0.1)
  expect(data?.['distanceMetres']).toBeCloseTo((2_499 / 10_000) * 111_195, -1)
  expect(data?.['movingSeconds']).toBeGreaterThan(2_000)
  const rows = data?.['rows'] as unknown[][]
  expect(rows).toHaveLength(100)
  const measured = [null, 33, 0, null, null]
  const others = [{ fuel: 12.5 }, true, expect.any(String)]
  expect(rows[0]).toEqual([iso(0), 52, 13, ...measured, ...others])
  const times = rows.map(([timestamp]) => timestamp)
  expect(times).toEqual([...times].sort())
  expect(times.indexOf(iso(1_800_000))).toBe(times.indexOf(iso(1_199_000)) + 1)
})

test('the part of a track within bounds is finer, has the totals of the whole, and says where the track left the bounds', async () => {
  // Out for 40 km and back, zigzagging by metres, twice.
  const zigzag = Array.from({ length: 8_000 }, (_, n) => {
    const away = Math.abs((n % 4_000) - 2_000) / 2_000
    return {
      deviceId: 'bus',
      timestamp: T0 + n * 5_000,
      latitude: 48.4 - 0.36 * away,
      longitude: 16 + (n % 2) / 2_000,
    }
  })
  await harness.project(zigzag[0] ?? {}, ...zigzag.slice(1))
  const whole = (await find('?points=100', 'bus')).body.data
  const part = (await find('?points=100&within=15.9,48.2,16.1,48.203', 'bus')).body.data
  expect(Number(whole?.['toleranceMetres'])).toBeGreaterThan(10)
  expect(Number(part?.['toleranceMetres'])).toBeLessThan(1)
  for (const name of ['total', 'distanceMetres', 'bounds'])
    expect(part?.[name]).toEqual(whole?.[name])
  const gaps = part?.['gaps'] as { from: string; to: string; outside?: true }[]
  expect(gaps).toHaveLength(3)
  for (const gap of gaps) expect(gap.outside).toBe(true)
  const rows = part?.['rows'] as [string, number, number][]
  const latitudes = rows.map(([, latitude]) => latitude)
  expect(Math.min(...latitudes)).toBeGreaterThan(48.1995)
  expect(Math.max(...latitudes)).toBeLessThan(48.2035)
  // Each passage runs from the record before the part to the one after it.
  expect(latitudes.filter((latitude) => latitude < 48.2 || latitude > 48.203)).toHaveLength(8)
  const times = rows.map(([timestamp]) => timestamp)
  for (const { from, to } of gaps) expect(times.indexOf(to)).toBe(times.indexOf(from) + 1)
  expect((await find('?within=170,-90,-170,90', 'bus')).body.data).toMatchObject({
    rows: [],
    total: 8_000,
  })
  for (const bad of ['1,2,3', '1,2,3,4,5', '1,3,2,2', '200,0,1,1', 'a,0,1,1', ',0,1,1']) {
    expect((await find(`?within=${bad}`, 'bus')).body.details).toMatchObject([{ field: 'within' }])
  }
})

test('the track of a device has at most 2000 points by default, and all records if there are fewer', async () => {
  expect((await find()).body.data).toMatchObject({ total: 2_500, shown: 2_000 })
  const query = `?from=${iso(10_000)}&to=${iso(20_000)}`
  expect((await find(query)).body.data).toMatchObject({
    total: 10,
    shown: 10,
    toleranceMetres: 0,
    gaps: [],
  })
})

test('the track of a device in a range without records is empty', async () => {
  expect((await find(`?from=${iso(-2_000)}&to=${iso(-1_000)}`)).body.data).toEqual({
    total: 0,
    shown: 0,
    toleranceMetres: 0,
    distanceMetres: 0,
    movingSeconds: 0,
    maxSpeed: null,
    bounds: null,
    gaps: [],
    columns: COLUMNS,
    rows: [],
  })
})

test('the track of a device has a gap after a silence longer than the device’s expected interval', async () => {
  const body = { expectedIntervalSeconds: 120 }
  await harness.api('PATCH', '/devices/tug', { headers, body })
  expect((await find()).body.data).toMatchObject({ gaps: [] })
  await harness.api('PATCH', '/devices/tug', { headers, body: { expectedIntervalSeconds: null } })
})

test('the track of a device has a gap, and no distance, where the device cannot have driven', async () => {
  // 500 km in 26 minutes.
  const step = (n: number) => ({ timestamp: T0 + n * 60_000, longitude: 13 })
  const tram = { deviceId: 'tram', timestamp: T0, latitude: 48, longitude: 13 }
  await harness.project(
    tram,
    { ...tram, ...step(1), latitude: 48.01 },
    { ...tram, ...step(27), latitude: 52.5 },
    { ...tram, ...step(28), latitude: 52.51 },
  )
  const body = { expectedIntervalSeconds: 600 }
  await harness.api('PATCH', '/devices/tram', { headers, body })
  const { data } = (await find('', 'tram')).body
  expect(data?.['distanceMetres']).toBeCloseTo(2 * 1_112, -1)
  expect(data).toMatchObject({
    total: 4,
    shown: 4,
    movingSeconds: 120,
    gaps: [{ from: iso(60_000), to: iso(27 * 60_000) }],
  })
  expect(data?.['maxSpeed']).toBeCloseTo(18.5, 1)
})

test('the track of a device has a gap after an hour, however rarely the device reports', async () => {
  const at = (minutes: number, longitude: number) => ({
    deviceId: 'crate',
    timestamp: T0 + minutes * 60_000,
    latitude: 48,
    longitude,
  })
  await harness.project(at(0, 13), at(120, 14), at(180, 14.5))
  const { data } = (await find('', 'crate')).body
  expect(data).toMatchObject({ gaps: [{ from: iso(0), to: iso(120 * 60_000) }] })
  expect(data?.['movingSeconds']).toBe(3_600)
})

test('the track of a device is a 404 for an unknown device, or one that the key cannot see', async () => {
  expect((await find('', 'Tug')).status).toBe(404)
  const { secret } = await harness.createKey({ scopes: ['positions:read'], deviceIds: ['x'] })
  const answer = await harness.api('GET', '/devices/tug/track', { headers: bearer(secret) })
  expect(answer.status).toBe(404)
})

const activity = (query: string, deviceId = 'tug') =>
  harness.api('GET', `/devices/${deviceId}/activity?${query}`, { headers })

test('the activity of a device counts its records by hour or day of a time zone, within the range only', async () => {
  const hours = await activity(`from=${iso(60_000)}&to=${iso(7_200_000)}&step=hour`)
  expect(hours.body.data).toEqual({
    items: [
      { start: iso(0), count: 2_440 },
      { start: iso(3_600_000), count: 0 },
    ],
  })
  const days = await activity(`from=${iso(0)}&to=${iso(3_600_000)}&tz=Asia/Kolkata`)
  expect(days.body.data).toEqual({
    items: [{ start: '2025-12-31T18:30:00.000Z', count: 2_500 }],
  })
})

test('the activity of a device covers the last 30 days by default', async () => {
  const items = (await activity('')).body.data?.items ?? []
  expect(items).toHaveLength(31)
  expect(items.at(-1)).toEqual({ start: iso(0), count: 2_500 })
})

test('the activity of a device is a 404 for an unknown device', async () => {
  expect((await activity('', 'none')).status).toBe(404)
})

test.each([
  ['tz', 'tz=Mars/Base'],
  ['from', 'from=2000-01-01T00:00:00Z'],
])('the activity of a device rejects an invalid %s: %s', async (field, query) => {
  const answer = await activity(query)
  expect(answer.status).toBe(400)
  expect(answer.body.details?.map((fault) => fault.field)).toEqual([field])
})
