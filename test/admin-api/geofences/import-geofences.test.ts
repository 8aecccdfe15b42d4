import { expect, test } from '@jest/globals'
import { adminForAllTests, startAdmin, type AdminHarness } from '../admin-harness.ts'

let harness: AdminHarness
let headers: Record<string, string>
adminForAllTests((given) => ({ harness, headers } = given))

const RING = [
  [0, 0],
  [1, 0],
  [1, 1],
  [0, 1],
  [0, 0],
]
const feature = (
  properties: unknown,
  geometry: unknown = { type: 'Polygon', coordinates: [RING] },
) => ({
  type: 'Feature',
  geometry,
  properties,
})
const importAll = (features: unknown, others: object = {}) =>
  harness.api('POST', '/geofences/import', {
    headers: { ...headers, 'Content-Type': 'application/geo+json' },
    body: { type: 'FeatureCollection', features, ...others },
  })

test('each feature is made or refused, in its order, and the import is audited once', async () => {
  const point = { type: 'Point', coordinates: [13.7, 45.27] }
  const answer = await importAll(
    [
      feature({ name: 'Square', externalId: 'sq', floors: 3, open: true, note: null }),
      feature({ name: 'Circle', radius: 150 }, point),
      feature({ name: 'No radius' }, point),
      feature({}),
      feature({ name: 'Open' }, { type: 'Polygon', coordinates: [RING.slice(1)] }),
      feature({ name: 'Again', externalId: 'sq' }),
      feature({ name: 'Nested', owner: { name: 'x' } }),
      { type: 'Point' },
    ],
    { name: 'layer', crs: { type: 'name' } },
  )
  expect(answer.status).toBe(200)
  expect(answer.body.data).toMatchObject({ created: 2, refused: 6 })
  const results = answer.body.data?.['results'] as Record<string, unknown>[]
  expect(results.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
  expect(results.map(({ error }) => error)).toEqual([
    undefined,
    undefined,
    ...Array.from({ length: 3 }, () => 'INVALID_PARAMS'),
    'CONFLICT',
    'INVALID_PARAMS',
    'INVALID_PARAMS',
  ])
  expect(results[2]?.['message']).toMatch(/shape.radius must be a number of metres/)
  expect(results[4]?.['message']).toMatch(/shape.coordinates\[0\] must be closed/)
  expect(results[6]?.['message']).toMatch(/properties.owner must be a text/)
  expect(results[7]?.['message']).toBe('features[7] must be a GeoJSON feature with a geometry')
  const square = await harness.api('GET', `/geofences/${String(results[0]?.['id'])}`, { headers })
  expect(square.body.data).toMatchObject({
    name: 'Square',
    externalId: 'sq',
    properties: { floors: '3', open: 'true' },
  })
  const circle = await harness.api('GET', `/geofences/${String(results[1]?.['id'])}`, { headers })
  expect(circle.body.data?.['shape']).toEqual({
    type: 'circle',
    latitude: 45.27,
    longitude: 13.7,
    radius: 150,
  })
  const audit = await harness.api('GET', '/audit?limit=1', { headers })
  expect(audit.body.data?.items?.[0]).toMatchObject({
    action: 'geofences.imported',
    subject: { kind: 'geofences', id: 'acc-1' },
    details: { created: 2, refused: 6 },
  })
})

test('an export of one account is imported unchanged by another', async () => {
  const fields = [
    {
      name: 'A',
      shape: { type: 'circle', latitude: 1, longitude: 2, radius: 30 },
      labels: ['x'],
      confirmSeconds: 9,
    },
    {
      name: 'B',
      shape: { type: 'Polygon', coordinates: [RING] },
      properties: { p: 'q' },
      enabled: false,
    },
    {
      name: 'C',
      shape: { type: 'MultiPolygon', coordinates: [[RING]] },
      externalId: 'c',
      deviceIds: ['tug'],
    },
  ]
  for (const body of fields) await harness.api('POST', '/geofences', { headers, body })
  const file = await harness.api('GET', '/geofences?format=geojson', { headers })
  expect(file.headers.get('content-type')).toBe('application/geo+json')
  const other = await startAdmin()
  const session = await other.createSession()
  const imported = await other.api('POST', '/geofences/import', {
    headers: session,
    body: file.text,
  })
  expect(imported.body.data).toMatchObject({ refused: 0 })
  const items = (await other.api('GET', '/geofences', { headers: session })).body.data?.items ?? []
  for (const one of fields) expect(items).toContainEqual(expect.objectContaining(one))
})

test.each([[[]], [7], [Array.from({ length: 1_001 }, () => feature({}))]])(
  'a collection without features, or with too many, is refused as a whole %#',
  async (features) => {
    const answer = await importAll(features)
    expect(answer.status).toBe(400)
    expect(answer.body.message).toBe('features must be a list of 1 to 1000 GeoJSON features')
  },
)

test('1000 geofences come in one call', async () => {
  const answer = await importAll(
    Array.from({ length: 1_000 }, (_, n) => feature({ name: `F${n}` })),
  )
  expect(answer.body.data).toMatchObject({ created: 1_000, refused: 0 })
})

test('another collection type is refused', async () => {
  const answer = await importAll([feature({ name: 'x' })], { type: 'GeometryCollection' })
  expect(answer.body.message).toBe('type must be FeatureCollection')
})
