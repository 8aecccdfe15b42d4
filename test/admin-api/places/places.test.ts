import { beforeAll, expect, test } from '@jest/globals'
import { bearer, startAdmin, type AdminHarness } from '../admin-harness.ts'

let harness: AdminHarness
let headers: Record<string, string>

beforeAll(async () => {
  harness = await startAdmin()
  headers = await harness.createSession()
})

const find = (...at: readonly string[]) =>
  harness.api('GET', `/places?${at.map((one) => `at=${one}`).join('&')}`, { headers })

async function namesAt(...at: readonly string[]) {
  const { body } = await find(...at)
  return body.data?.items?.map((place) => (place as { name?: string } | null)?.name)
}

const makeGeofence = (name: string, radius: number, changes = {}) =>
  harness.api('POST', '/geofences', {
    headers,
    body: {
      name,
      shape: { type: 'circle', latitude: 52.5388, longitude: 13.4244, radius },
      ...changes,
    },
  })

test('places are named in the order requested, sections of a city with the city, and nothing far from every town', async () => {
  const { body } = await find('52.539,13.42', '0,-30', '45.0811,13.6387', '52.539,13.42')
  const section = {
    name: 'Prenzlauer Berg',
    region: 'Berlin',
    country: 'DE',
    distanceMetres: expect.any(Number),
  }
  const town = { name: 'Rovinj', country: 'HR', distanceMetres: expect.any(Number) }
  expect(body.data?.items).toEqual([section, null, town, section])
})

test('the nearest town is found across the 180th meridian and around the poles', async () => {
  const { body } = await find('-16.5,-179.9', '-16.5,179.9', '90,0', '78.3,15.6')
  const [west, east, pole, north] = body.data?.items ?? []
  expect(west).toMatchObject({ country: 'FJ' })
  expect(east).toMatchObject({ name: west?.['name'], country: 'FJ' })
  expect(pole).toBeNull()
  expect(north).toMatchObject({ name: 'Longyearbyen', country: 'SJ' })
})

test('a place has the name of the smallest geofence around it, as soon as one is created, changed or deleted', async () => {
  const at = '52.5388,13.4244'
  expect(await namesAt(at)).toEqual(['Prenzlauer Berg'])
  const depot = await makeGeofence('Depot', 200)
  const gate = await makeGeofence('Gate 3', 50)
  await makeGeofence('Closed', 20, { enabled: false })
  const [item] = (await find(at)).body.data?.items ?? []
  expect(item).toEqual({
    name: 'Gate 3',
    region: 'Berlin',
    distanceMetres: 0,
    geofenceId: gate.body.data?.['id'],
  })
  expect(await namesAt('52.5401,13.4244', '52.5422,13.4244')).toEqual(['Depot', 'Prenzlauer Berg'])
  harness.clock.time += 90_000
  await harness.api('PATCH', `/geofences/${String(gate.body.data?.['id'])}`, {
    headers,
    body: { name: 'Gate 4' },
  })
  expect(await namesAt(at)).toEqual(['Gate 4'])
  harness.clock.time += 90_000
  await harness.api('DELETE', `/geofences/${String(gate.body.data?.['id'])}`, { headers })
  expect(await namesAt(at)).toEqual(['Depot'])
  const { secret } = await harness.createKey({ accountId: 'acc-2', scopes: ['positions:read'] })
  const { body } = await harness.api('GET', `/places?at=${at}`, { headers: bearer(secret) })
  expect(body.data?.items).toMatchObject([{ name: 'Prenzlauer Berg' }])
  await harness.api('DELETE', `/geofences/${String(depot.body.data?.['id'])}`, { headers })
})

/** Places near borders, each with its country. */
const BORDERS = {
  'Woodlands in Singapore': ['1.4465,103.7680', 'SG'],
  'Tuas in Singapore': ['1.3200,103.6500', 'SG'],
  'Müstair in Switzerland': ['46.601255,10.422899', 'CH'],
  'Lo Wu in Hong Kong': ['22.5270,114.1130', 'HK'],
  'Riehen in Switzerland': ['47.5850,7.6500', 'CH'],
  'Kreuzlingen in Switzerland': ['47.6505,9.1750', 'CH'],
  'Kehl in Germany': ['48.5750,7.8110', 'DE'],
  'Ferney-Voltaire in France': ['46.2556,6.1080', 'FR'],
  'Słubice in Poland': ['52.3500,14.5600', 'PL'],
  'Windsor in Canada': ['42.3149,-83.0364', 'CA'],
  'San Ysidro in the United States': ['32.5500,-117.0400', 'US'],
  'Gatumba in Burundi': ['-3.3300,29.2500', 'BI'],
  'Nong Khai in Thailand': ['17.8800,102.7400', 'TH'],
  'Domodossola’s mountains in Switzerland': ['46.2000,8.1000', 'CH'],
} as const

test.each(Object.entries(BORDERS))(
  'no other country is named at %s',
  async (_place, [at, country]) => {
    const [item] = (await find(at)).body.data?.items ?? []
    expect([country, undefined]).toContain((item as { country?: string }).country)
    expect(item).toMatchObject({ name: expect.any(String) as unknown })
  },
)

test('the country is named far from other countries’ towns, and in the middle of a town', async () => {
  const { body } = await find('1.29,103.85', '52.27,8.05', '39.8,-98.5', '-33.87,151.2')
  const countries = body.data?.items?.map((item) => (item as { country?: string }).country)
  expect(countries).toEqual(['SG', 'DE', 'US', 'AU'])
})

test('a place in a geofence near a border has the geofence’s name, and no country', async () => {
  for (const [latitude, longitude] of [
    [1.4465, 103.768],
    [46.601255, 10.422899],
    [50.05, 8.57],
  ]) {
    const shape = { type: 'circle', latitude, longitude, radius: 300 }
    await makeGeofence('Depot at the border', 300, { shape })
    const [item] = (await find(`${latitude},${longitude}`)).body.data?.items ?? []
    expect(item).toMatchObject({ name: 'Depot at the border' })
    expect(item).not.toHaveProperty('country')
  }
})

test('a geofence larger than a town does not hide the town, and names places far from every town', async () => {
  const around = (name: string, latitude: number, longitude: number, radius: number) =>
    makeGeofence(name, radius, { shape: { type: 'circle', latitude, longitude, radius } })
  await around('The whole country', 47.5, 14, 300_000)
  await around('A region', 47.8, 13.05, 20_000)
  await around('Salzburg Süd', 47.79, 13.06, 900)
  expect(await namesAt('47.79,13.06', '47.81,13.04')).toEqual(['Salzburg Süd', 'Salzburg'])
  await around('Fishing grounds', 0, -30, 200_000)
  expect(await namesAt('0,-30')).toEqual(['Fishing grounds'])
})

test('trips name both their ends, and stops their place', async () => {
  await makeGeofence('Yard', 100, {
    shape: { type: 'circle', latitude: 48.2, longitude: 16.4, radius: 200 },
  })
  const begin = harness.clock.now() - 3_600_000
  const minutes = Array.from({ length: 41 }, (_, n) => n)
  // Ten minutes in the yard, twenty driving north, ten parked.
  const reports = minutes.map((n) => ({
    deviceId: 'van',
    timestamp: begin + n * 60_000,
    latitude: 48.2 + 0.01 * Math.min(20, Math.max(0, n - 10)),
    longitude: 16.4,
  }))
  await harness.project(reports[0] ?? {}, ...reports.slice(1))
  const { body } = await harness.api('GET', '/devices/van/trips', { headers })
  expect(body.data?.items).toMatchObject([
    { kind: 'stop', place: { name: 'Yard', geofenceId: expect.any(String) } },
    { kind: 'trip', start: { place: { name: 'Yard' } }, end: { place: { country: 'AT' } } },
    { kind: 'stop', place: { country: 'AT' } },
  ])
})

test.each([
  ['?at=52.5', 'at must be a latitude and a longitude'],
  ['?at=90.1,0', 'at must be a latitude and a longitude'],
  ['?at=0,180.5', 'at must be a latitude and a longitude'],
  ['?at=NaN,0', 'at must be a latitude and a longitude'],
  [`?${'at=1,1&'.repeat(201)}`, '1 to 200 times'],
])('faulty places are rejected by name: %.20s', async (query, message) => {
  const { status, body } = await harness.api('GET', `/places${query}`, { headers })
  expect(status).toBe(400)
  expect(body.message).toContain(message)
})
