import { expect, test } from '@jest/globals'
import { newGeofence } from '../../contracts/store-definitions.ts'
import { ring } from '../../schemas/geo/ring.ts'
import { adminForAllTests, bearer, type AdminHarness, type Answer } from '../admin-harness.ts'

let harness: AdminHarness
let headers: Record<string, string>
adminForAllTests((given) => ({ harness, headers } = given))

const CIRCLE = { type: 'circle', latitude: 45.27, longitude: 13.7, radius: 60 }
const SQUARE = {
  type: 'Polygon',
  coordinates: [ring('0 0, 1 0, 1 1, 0 1, 0 0')],
}
const ask = (method: string, path: string, body?: unknown): Promise<Answer> =>
  harness.api(method, path, { headers, ...(body !== undefined && { body }) })
const create = (fields: object = {}) =>
  ask('POST', '/geofences', { name: 'Depot', shape: CIRCLE, ...fields })
const made = async (fields: object = {}) => (await create(fields)).body.data as { id: string }
const lastAudit = async () => (await ask('GET', '/audit?limit=1')).body.data?.items?.[0]

test('a geofence is created, read, listed, changed and deleted, and each change is audited', async () => {
  const fields = {
    name: 'Depot',
    externalId: 'depot-1',
    shape: SQUARE,
    properties: { street: 'Harbour road 1' },
    labels: ['night'],
    confirmSeconds: 60,
  }
  const answer = await ask('POST', '/geofences', fields)
  expect(answer.status).toBe(201)
  const now = new Date(harness.clock.now()).toISOString()
  const geofence = {
    ...fields,
    id: expect.stringMatching(/^[0-9A-Z]{26}$/) as unknown,
    enabled: true,
    revision: 1,
    createdAt: now,
    changedAt: now,
  }
  expect(answer.body.data).toEqual(geofence)
  const { id } = answer.body.data as { id: string }
  const shape = { type: 'Polygon', vertices: 4 }
  expect(await lastAudit()).toMatchObject({
    action: 'geofence.created',
    subject: { kind: 'geofence', id },
    details: { name: 'Depot', shape },
  })
  expect((await ask('GET', `/geofences/${id}`)).body.data).toEqual(geofence)
  expect((await ask('GET', '/geofences')).body.data?.items).toContainEqual(geofence)
  harness.clock.time += 1
  const changed = await ask('PATCH', `/geofences/${id}`, { name: 'Yard', labels: null })
  expect(changed.body.data).toMatchObject({ name: 'Yard', revision: 2, confirmSeconds: 60 })
  expect(changed.body.data).not.toHaveProperty('labels')
  expect(await lastAudit()).toMatchObject({ action: 'geofence.changed', details: { name: 'Yard' } })
  harness.clock.time += 1
  expect((await ask('PATCH', `/geofences/${id}`, { name: 'Yard' })).body.data).toMatchObject({
    revision: 2,
  })
  expect((await ask('DELETE', `/geofences/${id}`)).status).toBe(200)
  expect(await lastAudit()).toMatchObject({ action: 'geofence.deleted', details: { name: 'Yard' } })
  const gone = await ask('GET', `/geofences/${id}`)
  expect(gone.status).toBe(404)
  expect(gone.body.message).toBe('there is no geofence with this id')
})

test('longitudes beyond ±180 are wrapped; beyond ±360 they are rejected', async () => {
  const across = { type: 'Polygon', coordinates: [ring('178 1, 182.5 1, 182.5 2, 178 1')] }
  const stored = await made({ shape: across })
  expect(stored).toMatchObject({
    shape: { coordinates: [ring('178 1, -177.5 1, -177.5 2, 178 1')] },
  })
  const west = await made({ shape: { ...CIRCLE, longitude: -190 } })
  expect(west).toMatchObject({ shape: { longitude: 170 } })
  expect(await made({ shape: { ...CIRCLE, longitude: 360 } })).toMatchObject({
    shape: { longitude: 0 },
  })
  const circle = await create({ shape: { ...CIRCLE, longitude: 361 } })
  expect(circle.body.details).toMatchObject([{ field: 'shape.longitude' }])
  const beyond = [ring('361 1, 362 1, 362 2, 361 1')]
  const polygon = await create({ shape: { type: 'Polygon', coordinates: beyond } })
  expect(polygon.body.message).toMatch(/shape.coordinates\[0\]\[0\] must be .* from -360 to 360/)
})

test('a new geofence shows the progress of the search for devices inside, until it has finished', async () => {
  const { id, accountId } = { ...(await made()), accountId: 'acc-1' }
  harness.clock.time += 1
  const other = await made()
  const to = harness.clock.now()
  const seen = async (one: string) => (await ask('GET', `/geofences/${one}`)).body.data
  expect(await seen(id)).not.toHaveProperty('adopting')
  const running = { from: to, to, done: 50, total: 9_000 }
  await harness.store.saveAdoption({ accountId, upTo: to - 1, running })
  const adopting = { done: 50, total: 9_000 }
  expect(await seen(other.id)).toMatchObject({ adopting })
  expect(await seen(id)).not.toHaveProperty('adopting')
  expect((await ask('GET', '/geofences?limit=1')).body.data?.items).toMatchObject([{ adopting }])
  await harness.store.saveAdoption({ accountId, upTo: to })
  expect(await seen(other.id)).not.toHaveProperty('adopting')
})

test('the names of all geofences are one list without shapes, however many there are', async () => {
  const features = Array.from({ length: 600 }, (_, n) => ({
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [13.7, 45.27] },
    properties: { name: `Stop ${n}`, radius: 60 },
  }))
  const imported = await ask('POST', '/geofences/import', { type: 'FeatureCollection', features })
  expect(imported.status).toBe(200)
  const { items } = (await ask('GET', '/geofences/names')).body.data as unknown as {
    items: object[]
  }
  const names = new Map(items.map((item) => [(item as { id: string }).id, item]))
  const results = imported.body.data?.['results'] as { index: number; id: string }[]
  for (const { index, id } of results) expect(names.get(id)).toEqual({ id, name: `Stop ${index}` })
})

test('PUT creates the geofence with an external id, or replaces it whole; repeating it changes nothing', async () => {
  const path = '/geofences/by-external-id/site%2F7'
  const content = { name: 'Site', shape: CIRCLE, properties: { a: 'b' } }
  const first = await ask('PUT', path, content)
  expect(first.status).toBe(200)
  expect(first.body.data).toMatchObject({
    externalId: 'site/7',
    revision: 1,
    properties: { a: 'b' },
  })
  expect((await ask('PUT', path, content)).body.data).toEqual(first.body.data)
  const next = await ask('PUT', path, { name: 'Site', shape: SQUARE, externalId: 'site/7' })
  expect(next.body.data).toMatchObject({ id: first.body.data?.['id'], shape: SQUARE, revision: 2 })
  expect(next.body.data).not.toHaveProperty('properties')
  const other = await ask('PUT', path, { ...content, externalId: 'x' })
  expect(other.body.details).toEqual([
    { field: 'externalId', message: 'externalId must equal the one in the path, or be omitted' },
  ])
})

test('two concurrent PUTs of one external id both succeed, and create one geofence', async () => {
  const put = () => ask('PUT', '/geofences/by-external-id/twin', { name: 'Twin', shape: CIRCLE })
  const answers = await Promise.all([put(), put(), put()])
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  expect(new Set(answers.map(({ body }) => body.data?.['id'])).size).toBe(1)
})

test('creating or changing a geofence with an external id that is taken is a 409', async () => {
  await made({ externalId: 'taken' })
  const { id } = await made()
  for (const answer of [
    await create({ externalId: 'taken' }),
    await ask('PATCH', `/geofences/${id}`, { externalId: 'taken' }),
  ]) {
    expect(answer.status).toBe(409)
    expect(answer.body.message).toMatch(/^another geofence has this externalId: change it with PUT/)
  }
})

test('deleting a geofence that a rule names is a 409', async () => {
  const { id } = await made()
  const rule = await ask('POST', '/rules', { name: 'Long "visit"', when: { inside: id } })
  const answer = await ask('DELETE', `/geofences/${id}`)
  expect(answer.status).toBe(409)
  expect(answer.body.message).toBe(
    'the rule "Long \\"visit\\"" names this geofence: change or delete it first',
  )
  await ask('DELETE', `/rules/${String(rule.body.data?.['id'])}`)
  expect((await ask('DELETE', `/geofences/${id}`)).status).toBe(200)
})

test.each<[object, string, RegExp]>([
  [{ shape: 7 }, 'shape', /must be an object: a circle with/],
  [{ shape: { type: 'Point' } }, 'shape.type', /must be one of circle, Polygon, MultiPolygon/],
  [
    { shape: { ...CIRCLE, radius: 9 } },
    'shape.radius',
    /must be a number of metres from 10 to 1000000/,
  ],
  [
    { shape: { ...CIRCLE, latitude: 91 } },
    'shape.latitude',
    /must be a number of degrees from -90 to 90/,
  ],
  [{ shape: { type: 'Polygon', coordinates: [] } }, 'shape.coordinates', /must be a list of rings/],
  [
    { shape: { type: 'Polygon', coordinates: [[]] } },
    'shape.coordinates[0]',
    /must be a list of positions/,
  ],
  [
    { shape: { type: 'MultiPolygon', coordinates: 7 } },
    'shape.coordinates',
    /must be a list of polygons, each of which/,
  ],
  [
    {
      shape: {
        type: 'Polygon',
        coordinates: [ring('0 0, 361 0, 1 1, 0 0')],
      },
    },
    'shape.coordinates[0][1]',
    /must be \[longitude, latitude\] in degrees/,
  ],
  [
    {
      shape: {
        type: 'Polygon',
        coordinates: [ring('0 0, 1 1, 1 0, 0 1, 0 0')],
      },
    },
    'shape.coordinates[0][2]',
    /must not meet/,
  ],
  [
    {
      shape: {
        type: 'MultiPolygon',
        coordinates: [SQUARE.coordinates, [ring('0 0, 1 0, 1 1')]],
      },
    },
    'shape.coordinates[1][0][2]',
    /must be closed/,
  ],
  [{ properties: [] }, 'properties', /must be an object with at most 10 texts/],
  [{ properties: { a: 7 } }, 'properties.a', /must be a text of at most 256 characters/],
  [{ properties: { a: 'x'.repeat(257) } }, 'properties.a', /at most 256/],
  [
    { properties: { ['x'.repeat(65)]: 'a' } },
    `properties.${'x'.repeat(64)}`,
    /must have a name of at most 64/,
  ],
  [
    { properties: Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`p${n}`, 'x'])) },
    'properties',
    /at most 10/,
  ],
  [{ confirmSeconds: 3_601 }, 'confirmSeconds', /must be a whole number from 0 to 3600/],
  [{ deviceIds: [] }, 'deviceIds', /must be a list of 1 to 1000 different deviceIds/],
  [{ labels: [] }, 'labels', /must be a list of 1 to 100 different labels/],
  [{ externalId: ' x' }, 'externalId', /must be a text of 1 to 128/],
])('%j is rejected with its field and vertex', async (fields, field, message) => {
  const answer = await create(fields)
  expect(answer.status).toBe(400)
  expect(answer.body.details?.map((fault) => fault.field)).toEqual([field])
  expect(answer.body.details?.[0]?.message).toMatch(message)
})

test('a property that is an API key is rejected, and not repeated', async () => {
  const { secret } = await harness.createKey()
  const answer = await create({ properties: { note: secret } })
  expect(answer.status).toBe(400)
  expect(answer.body.message).toBe(
    'properties.note must not be or contain an API key: everybody who may read would see it',
  )
})

test('a key that is bound to devices sees geofences, but no other devices in them', async () => {
  const { id } = await made({ deviceIds: ['tug', 'ferry'] })
  const { secret } = await harness.createKey({ scopes: ['devices:read'], deviceIds: ['t*'] })
  const path = `/geofences/${id}`
  const bound = await harness.api('GET', path, { headers: bearer(secret) })
  expect(bound.body.data).toMatchObject({ id, deviceIds: ['tug'] })
  const file = await harness.api('GET', '/geofences?format=geojson', { headers: bearer(secret) })
  expect(file.text).not.toContain('ferry')
})

test('an erased device disappears from geofences, rules and their audit', async () => {
  await harness.project({ deviceId: 'barge' })
  const { id } = await made({ name: 'Barge harbour', deviceIds: ['barge', 'tug'] })
  const rule = await ask('POST', '/rules', {
    name: 'Barge',
    when: { silent: true },
    forSeconds: 60,
    deviceIds: ['barge'],
  })
  expect((await ask('DELETE', '/devices/barge')).status).toBe(202)
  expect((await ask('GET', `/geofences/${id}`)).body.data).toMatchObject({ deviceIds: ['tug'] })
  const path = `/rules/${String(rule.body.data?.['id'])}`
  expect((await ask('GET', path)).body.data).toMatchObject({ deviceIds: [] })
  const audit = await ask('GET', `/audit?subjectId=${id}`)
  expect(audit.text).not.toContain('barge')
})

test('geofences are paged with a cursor', async () => {
  const all = await harness.allPages('/geofences?limit=2', { headers })
  const whole = await ask('GET', '/geofences?limit=1000')
  expect(all).toEqual(whole.body.data?.items)
  expect(all.length).toBeGreaterThan(3)
  const both = await ask('GET', '/geofences?format=geojson&limit=2')
  expect(both.body.details).toEqual([
    { field: 'limit', message: 'limit requires format=json: geojson is all geofences' },
  ])
})

test('a page of large geofences holds fewer than the limit, and each geofence is on one page', async () => {
  const deviceIds = Array.from({ length: 1_000 }, (_, n) => `${n}`.padStart(100, 'x'))
  const names = Array.from({ length: 25 }, (_, n) => `Large ${n}`)
  const large = (name: string) => newGeofence({ accountId: 'acc-1', name, deviceIds })
  await harness.store.createGeofences(names.map(large))
  const read: string[] = []
  let pages = 0
  for (let cursor: string | null = ''; cursor !== null; pages += 1) {
    const query: string = cursor === '' ? '' : `&cursor=${cursor}`
    const { data } = (await ask('GET', `/geofences?limit=1000${query}`)).body
    expect(JSON.stringify(data).length).toBeLessThan(1.3 * 1024 * 1024)
    for (const { name } of (data?.items ?? []) as { name: string }[]) read.push(name)
    cursor = data?.nextCursor ?? null
  }
  expect(pages).toBeGreaterThan(2)
  expect(read.filter((name) => name.startsWith('Large')).sort()).toEqual([...names].sort())
  await harness.store.createGeofences(Array.from({ length: 150 }, () => large('More')))
  const { status, body } = await create({ deviceIds })
  expect([status, body.message]).toEqual([400, expect.stringContaining('too large')])
})
