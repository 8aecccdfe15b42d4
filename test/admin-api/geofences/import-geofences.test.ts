import { describe, expect, test } from '@jest/globals'
import { adminForAllTests, startAdmin, type AdminHarness } from '../admin-harness.ts'
import { ring } from '../../schemas/geo/ring.ts'

let harness: AdminHarness
let headers: Record<string, string>
adminForAllTests((given) => ({ harness, headers } = given))

const RING = ring('0 0, 1 0, 1 1, 0 1, 0 0')
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

test('each feature is created or refused, in order, and the import is audited once', async () => {
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
  expect(answer.body.data).toMatchObject({ created: 3, refused: 5 })
  const results = answer.body.data?.['results'] as Record<string, unknown>[]
  expect(results.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
  expect(results.map(({ error }) => error)).toEqual([
    undefined,
    undefined,
    ...Array.from({ length: 3 }, () => 'INVALID_PARAMS'),
    'CONFLICT',
    undefined,
    'INVALID_PARAMS',
  ])
  expect(results[2]?.['message']).toMatch(/shape.radius must be a number of metres/)
  expect(results[4]?.['message']).toMatch(/shape.coordinates\[0\] must be closed/)
  expect(results[6]).toEqual({ index: 6, id: expect.any(String) as unknown, leftOut: ['owner'] })
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
    details: { created: 3, refused: 5 },
  })
})

const SQUARE = { type: 'Polygon', coordinates: [RING] }

describe('files of other programs', () => {
  const files: Record<string, { collection: object; feature: object; made: object }> = {
    QGIS: {
      collection: {
        name: 'yards',
        crs: { type: 'name', properties: { name: 'urn:ogc:def:crs:OGC:1.3:CRS84' } },
        xy_coordinate_resolution: 1e-6,
      },
      feature: { properties: { fid: 3, name: 'Yard', area: 12.5, note: null }, geometry: SQUARE },
      made: { name: 'Yard', properties: { fid: '3', area: '12.5' } },
    },
    'overpass turbo': {
      collection: { generator: 'overpass-turbo', copyright: 'OSM', timestamp: '2026-01-01' },
      feature: {
        id: 'way/7',
        properties: { '@id': 'way/7', name: 'Quay', '@relations': [{ role: 'outer', rel: 9 }] },
        geometry: SQUARE,
      },
      made: { name: 'Quay', externalId: 'way/7', properties: { '@id': 'way/7' } },
    },
    GeoServer: {
      collection: { totalFeatures: 1, numberMatched: 1, timeStamp: 'x', bbox: [0, 0, 1, 1] },
      feature: {
        id: 'zones.1',
        geometry_name: 'the_geom',
        bbox: [0, 0, 1, 1],
        properties: { name: 12, active: true },
        geometry: { ...SQUARE, bbox: [0, 0, 1, 1], crs: { type: 'name' } },
      },
      made: { name: '12', externalId: 'zones.1', properties: { active: 'true' } },
    },
    ArcGIS: {
      collection: { exceededTransferLimit: true, properties: { exceededTransferLimit: true } },
      feature: {
        id: 41,
        properties: { OBJECTID: 41, NAME: 'Plant', Shape__Area: 1.5 },
        geometry: { type: 'MultiPolygon', coordinates: [[RING.map((at) => [...at, 12.3])]] },
      },
      made: { name: 'Plant', externalId: '41', properties: { OBJECTID: '41', Shape__Area: '1.5' } },
    },
  }

  test.each(Object.entries(files))('of %s', async (_program, { collection, feature, made }) => {
    const answer = await importAll([{ type: 'Feature', ...feature }], collection)
    expect(answer.body.data).toMatchObject({ created: 1, refused: 0 })
    const [{ id } = {}] = answer.body.data?.['results'] as { id?: string }[]
    const stored = await harness.api('GET', `/geofences/${id}`, { headers })
    expect(stored.body.data).toMatchObject(made)
    expect(Object.keys(stored.body.data?.['shape'] as object)).toEqual(['type', 'coordinates'])
  })

  test('properties that a geofence cannot have are omitted and named: nested, long or more than ten', async () => {
    const tags = Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`tag:${n}`, 'x']))
    const odd = { tags: { a: 1 }, long: 'x'.repeat(257), list: [1], ['n'.repeat(65)]: 'x' }
    const answer = await importAll([
      feature({ name: 'Many', ...tags, ...odd }),
      { ...feature({ name: 'Odd id' }), id: { n: 1 } },
      { ...feature({ name: 'Both', externalId: 5 }), id: 'other' },
    ])
    const results = answer.body.data?.['results'] as { id: string; leftOut?: string[] }[]
    expect(results.map(({ leftOut }) => leftOut)).toEqual([
      ['tag:10', 'tag:11', 'tags', 'long', 'list', 'n'.repeat(64)],
      ['id'],
      undefined,
    ])
    const stored = await harness.api('GET', `/geofences/${results[2]?.id}`, { headers })
    expect(stored.body.data).toMatchObject({ externalId: '5' })
  })

  test('importing a file again creates no duplicates', async () => {
    const again = [{ ...feature({ name: 'Once' }), id: 'way/1' }]
    await importAll(again)
    const answer = await importAll(again)
    expect(answer.body.data?.['results']).toMatchObject([{ error: 'CONFLICT' }])
  })
})

test.each([
  [{ type: 'circle', latitude: 1, longitude: 2, radius: 30, unit: 'm' }, 'shape.unit', 'circle'],
  [{ ...SQUARE, bbox: [0, 0, 1, 1] }, 'shape.bbox', 'Polygon'],
  [{ type: 'MultiPolygon', coordinates: [[RING]], crs: 1 }, 'shape.crs', 'MultiPolygon'],
])('an unknown field inside a shape is rejected by name %#', async (shape, field, type) => {
  const known = await harness.api('POST', '/geofences', {
    headers,
    body: { name: 'A', shape: SQUARE },
  })
  const id = String(known.body.data?.['id'])
  const calls = [
    ['POST', '/geofences', { name: 'B', shape }],
    ['PUT', '/geofences/by-external-id/b', { name: 'B', shape }],
    ['PATCH', `/geofences/${id}`, { shape }],
  ] as const
  for (const [method, path, body] of calls) {
    const answer = await harness.api(method, path, { headers, body })
    expect(answer.status).toBe(400)
    expect(answer.body.details).toMatchObject([
      {
        field,
        message: expect.stringMatching(
          `^${field} is not a field of a ${type}: it takes type`,
        ) as unknown,
      },
    ])
  }
})

test('another account can import an export unchanged', async () => {
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
  'a collection without features, or with too many, is rejected as a whole %#',
  async (features) => {
    const answer = await importAll(features)
    expect(answer.status).toBe(400)
    expect(answer.body.message).toBe('features must be a list of 1 to 1000 GeoJSON features')
  },
)

test('one call can import 1000 geofences', async () => {
  const answer = await importAll(
    Array.from({ length: 1_000 }, (_, n) => feature({ name: `F${n}` })),
  )
  expect(answer.body.data).toMatchObject({ created: 1_000, refused: 0 })
})

test('another collection type is rejected', async () => {
  const answer = await importAll([feature({ name: 'x' })], { type: 'GeometryCollection' })
  expect(answer.body.message).toBe('type must be FeatureCollection')
})
