import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from '@jest/globals'
import { ownDirectory } from '../../own-directory.ts'
import { bearer, startAdmin, type AdminHarness } from '../admin-harness.ts'
import { streetFile, type Road } from './street-file.ts'

/** In Bruck an der Leitha; the second one is four kilometres to the east. */
const street = (name: string, west: number): Road => ({
  name,
  path: [
    [west, 48.02],
    [west + 0.004, 48.021],
  ],
})
const ROADS = [
  street('Marktstraße', 16.772),
  street('Alte Märkerallee', 16.774),
  street('Feldgasse', 16.82),
  street('Marktplatz', 16.9),
]
const NEAR = '48.02,16.77'

let harness: AdminHarness
let headers: Record<string, string>

beforeAll(async () => {
  const file = join(await ownDirectory(), 'town.pmtiles')
  writeFileSync(file, streetFile(ROADS))
  harness = await startAdmin({ maps: [{ kind: 'pmtiles file', name: 'Town', file }] })
  headers = await harness.createSession()
})

async function find(q: string, near?: string) {
  const query = new URLSearchParams({ q, ...(near !== undefined && { near }) })
  const { body } = await harness.api('GET', `/places/search?${query.toString()}`, { headers })
  return body.data?.items ?? []
}
const names = (items: Awaited<ReturnType<typeof find>>, kind: string) =>
  items.filter((item) => item['kind'] === kind).map((item) => item['name'])

const makeGeofence = (name: string, latitude: number, longitude: number) => {
  const shape = { type: 'circle', latitude, longitude, radius: 60 }
  return harness.api('POST', '/geofences', { headers, body: { name, shape } })
}

test('streets within 5 km of the viewed region are found, with their town and position', async () => {
  const [found] = await find('marktstr', NEAR)
  expect(found).toMatchObject({
    kind: 'street',
    name: 'Marktstraße',
    region: 'Bruck an der Leitha',
  })
  expect(found?.['longitude']).toBeCloseTo(16.772, 3)
  expect(found?.['distanceMetres']).toBeLessThan(160)
  expect(names(await find('mark', NEAR), 'street')).toEqual(['Marktstraße', 'Alte Märkerallee'])
  expect(names(await find('MARKER', NEAR), 'street')).toEqual(['Alte Märkerallee'])
  expect(names(await find('mark', '48.02,16.9'), 'street')).toEqual(['Marktplatz'])
  expect(names(await find('feldgasse bruck', NEAR), 'street')).toEqual(['Feldgasse'])
  expect(names(await find('feldgasse wien', NEAR), 'street')).toEqual([])
  expect(names(await find('mark'), 'street')).toEqual([])
})

test('towns are found without accents and by the beginnings of words, the large and near ones first', async () => {
  expect((await find('zurich'))[0]).toMatchObject({ kind: 'town', name: 'Zürich', country: 'CH' })
  expect(names(await find('bruck', NEAR), 'town')[0]).toBe('Bruck an der Leitha')
  expect(names(await find('bruck', '47.4,15.3'), 'town')[0]).toBe('Bruck an der Mur')
  expect(names(await find('paris', NEAR), 'town')[0]).toBe('Paris')
  expect(names(await find('leitha bruck'), 'town')).toContain('Bruck an der Leitha')
  expect((await find('prenzlauer berlin'))[0]).toMatchObject({ region: 'Berlin' })
  expect(await find('xyzzyx')).toEqual([])
})

test('only the account’s own geofences are found, exact names first', async () => {
  await makeGeofence('Marktstraße', 48.3, 16.1)
  const { body } = await makeGeofence('Depot Markt', 48.1, 16.2)
  const found = await find('markt', NEAR)
  expect(found.find(({ kind }) => kind === 'geofence')).toMatchObject({ name: 'Marktstraße' })
  expect(found.find(({ name }) => name === 'Depot Markt')).toMatchObject({
    kind: 'geofence',
    geofenceId: body.data?.['id'],
    latitude: expect.closeTo(48.1, 4),
    longitude: expect.closeTo(16.2, 4),
  })
  expect((await find('depot', NEAR))[0]).toMatchObject({ name: 'Depot Markt' })
  const kinds = (await find('marktstrasse', NEAR)).map(({ kind }) => kind)
  expect(kinds).toEqual(['geofence', 'street'])
  const { secret } = await harness.createKey({ accountId: 'acc-2', scopes: ['positions:read'] })
  const others = await harness.api('GET', '/places/search?q=depot+markt', {
    headers: bearer(secret),
  })
  expect(others.body.data?.items).toEqual([])
})

test('the nearest street names a place with its town, unless a geofence does', async () => {
  const places = async () => {
    const at = 'at=48.0202,16.773&at=48.0205,16.8&at=48.0202,16.821'
    return (await harness.api('GET', `/places?${at}`, { headers })).body.data?.items
  }
  const town = { name: 'Bruckneudorf', country: 'AT', distanceMetres: expect.any(Number) }
  const markt = {
    name: 'Marktstraße',
    region: 'Bruck an der Leitha',
    country: 'AT',
    distanceMetres: expect.any(Number),
    isStreet: true,
  }
  const [first, second, third] = (await places()) ?? []
  expect(first).toEqual(markt)
  expect(second).toEqual(town)
  expect(third).toMatchObject({ name: 'Feldgasse', isStreet: true })
  await makeGeofence('Customer', 48.0202, 16.821)
  expect((await places())?.[2]).toMatchObject({ name: 'Customer', distanceMetres: 0 })
})

test('trips and shared links name streets', async () => {
  const begin = harness.clock.now() - 1_800_000
  const reports = Array.from({ length: 21 }, (_, n) => ({
    deviceId: 'van',
    timestamp: begin + n * 60_000,
    latitude: 48.0201,
    longitude: n < 10 ? 16.7725 : 16.7725 + 0.01 * (n - 9),
  }))
  await harness.project(reports[0] ?? {}, ...reports.slice(1))
  const trips = await harness.api('GET', '/devices/van/trips', { headers })
  expect(trips.body.data?.items).toMatchObject([
    { kind: 'stop', place: { name: 'Marktstraße' } },
    { kind: 'trip', start: { place: { name: 'Marktstraße' } } },
  ])
  const expiresAt = new Date(harness.clock.now() + 3_600_000).toISOString()
  const share = { name: 'Today', deviceIds: ['van'], expiresAt }
  const { body } = await harness.api('POST', '/shares', { headers, body: share })
  const now = harness.clock.now()
  await harness.project({
    deviceId: 'van',
    timestamp: now,
    receivedAt: now,
    latitude: 48.0201,
    longitude: 16.7725,
  })
  const shown = await harness.api('GET', '/shared', {
    headers: bearer(String(body.data?.['token'])),
  })
  expect(shown.body.data?.items).toMatchObject([{ place: { name: 'Marktstraße' } }])
})

test.each([
  ['?q=%20.', 'q must have a letter or a digit'],
  [`?q=${'x'.repeat(101)}`, 'q must be a text of 1 to 100 characters'],
  ['?q=a&near=91,0', 'near must be a latitude and a longitude in degrees'],
])('a faulty search is rejected with the parameter’s name: %.20s', async (query, message) => {
  const { status, body } = await harness.api('GET', `/places/search${query}`, { headers })
  expect(status).toBe(400)
  expect(body.message).toContain(message)
})
