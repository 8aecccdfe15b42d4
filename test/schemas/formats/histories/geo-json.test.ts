import { expect, test } from '@jest/globals'
import { NO_TIMESTAMP } from '../../../../schemas/report/position-report.ts'
import { history, readHistory, asReports, reportsInText } from './read-history.ts'

test("Dawarich's battery is a percentage, even if it is 1", async () => {
  const { found } = await readHistory(history('dawarich.geojson'))
  expect(asReports(found)).toMatchObject([
    {
      deviceId: 'jane',
      latitude: 55.755826,
      longitude: 37.6173,
      altitude: 11,
      accuracy: 4,
      speed: 1.5,
      heading: 45,
      battery: 0.01,
      timestamp: '2021-01-01T00:00:00.000Z',
      attributes: {
        charging: false,
        connection: 'wifi',
        mode: 1,
        verticalAccuracy: 1,
        trigger: 'background_event',
      },
    },
  ])
})

test("Overland's features read the same as the app's requests", async () => {
  const { found } = await readHistory(history('overland.geojson'))
  expect(asReports(found)).toMatchObject([
    {
      deviceId: 'jane',
      latitude: 37.3318,
      longitude: -122.030581,
      accuracy: 30,
      altitude: 0,
      speed: 4,
      battery: 0.8,
      timestamp: '2015-10-01T15:00:00.000Z',
      attributes: { activity: 'driving,stationary', charging: true },
    },
    'features without a geometry',
  ])
})

test('each point of a line has the time at the same index of coordTimes', async () => {
  const [a, b, c] = ['2024-01-01T00:00:00Z', '2024-01-01T00:00:01Z', '2024-01-01T00:00:02Z']
  const lines = {
    type: 'MultiLineString',
    coordinates: [
      [
        [1, 2],
        [3, 4, 5],
      ],
      [[6, 7]],
    ],
  }
  for (const properties of [
    { coordTimes: [[a, b], [c]] },
    { coordinateProperties: { times: [[a, b], [c]] } },
  ]) {
    expect(await reportsInText(collection(lines, properties))).toMatchObject([
      { longitude: 1, latitude: 2, timestamp: '2024-01-01T00:00:00.000Z' },
      { longitude: 3, latitude: 4, altitude: 5, timestamp: '2024-01-01T00:00:01.000Z' },
      { longitude: 6, latitude: 7, timestamp: '2024-01-01T00:00:02.000Z' },
    ])
  }
  const line = {
    type: 'LineString',
    coordinates: [
      [1, 2],
      [3, 4],
    ],
  }
  expect(await reportsInText(collection(line, { coordTimes: [a], deviceId: 'van' }))).toMatchObject(
    [{ deviceId: 'van', timestamp: '2024-01-01T00:00:00.000Z' }, NO_TIMESTAMP.message],
  )
  expect(await reportsInText(collection(line, {}))).toEqual(['a line must have coordTimes'])
})

test('each point of a MultiPoint has the time at the same index of times; without times it is reported', async () => {
  const times = ['2024-01-01T00:00:00Z', '2024-01-01T00:00:01Z']
  const coordinates = [
    [1, 2],
    [3, 4, 5],
  ]
  const several = { type: 'MultiPoint', coordinates }
  const points = [
    { deviceId: 'van', longitude: 1, latitude: 2, timestamp: '2024-01-01T00:00:00.000Z' },
    {
      deviceId: 'van',
      longitude: 3,
      latitude: 4,
      altitude: 5,
      timestamp: '2024-01-01T00:00:01.000Z',
    },
  ]
  for (const properties of [
    { times },
    { coordTimes: times },
    { coordinateProperties: { times } },
  ]) {
    expect(await reportsInText(collection(several, { ...properties, deviceId: 'van' }))).toEqual(
      points,
    )
  }
  expect(await reportsInText(JSON.stringify({ ...several, times }))).toMatchObject([
    { longitude: 1 },
    { longitude: 3 },
  ])
  const at = { timestamp: '2024-01-01T00:00:00Z', device_id: 'van' }
  expect(await reportsInText(collection(several, at))).toEqual([
    'a MultiPoint must have times, one for each of its points',
  ])
  const single = { type: 'MultiPoint', coordinates: [[1, 2]] }
  expect(await reportsInText(collection(single, at))).toEqual([points[0]])
})

test('a line names its device in the same way as points', async () => {
  const line = { type: 'LineString', coordinates: [[1, 2]] }
  for (const name of ['deviceId', 'device_id', 'tracker_id']) {
    const properties = { coordTimes: ['2024-01-01T00:00:00Z'], [name]: 'van' }
    expect(await reportsInText(collection(line, properties))).toMatchObject([{ deviceId: 'van' }])
  }
})

test('the root of a file may be a single feature or a geometry, its members in any order', async () => {
  const { format, found } = await readHistory(history('feature.geojson'))
  expect(format).toBe('geojson')
  expect(asReports(found)).toMatchObject([
    { latitude: 52.1, longitude: 13.1, timestamp: '2024-01-01T00:00:00.000Z' },
    { latitude: 52.2, longitude: 13.2, timestamp: '2024-01-01T00:01:00.000Z' },
  ])
  const properties = { time: '2024-01-01T00:00:00Z' }
  const geometry = { type: 'Point', coordinates: [1, 2] }
  const [type, at] = ['Feature', { latitude: 2, longitude: 1 }]
  for (const root of [
    { properties, geometry, type },
    { geometry, type, properties },
    { type, geometry: { type: 'GeometryCollection', geometries: [geometry] }, properties },
    {
      ...geometry,
      coordTimes: ['2024-01-01T00:00:00Z'],
      type: 'LineString',
      coordinates: [[1, 2]],
    },
  ]) {
    expect(await reportsInText(JSON.stringify(root, undefined, 2))).toMatchObject([at])
  }
  expect(await reportsInText(JSON.stringify(geometry))).toEqual([NO_TIMESTAMP.message])
})

test('a feature on each line is read, with the record separators of RFC 8142 too', async () => {
  const feature = (n: number) =>
    JSON.stringify({
      type: 'Feature',
      geometry: { type: 'Point', coordinates: [n, 2] },
      properties: { time: '2024-01-01T00:00:00Z' },
    })
  for (const begin of ['', '\x1e']) {
    const text = [1, 2].map((n) => `${begin}${feature(n)}\n`).join('')
    expect(await reportsInText(text)).toMatchObject([{ longitude: 1 }, { longitude: 2 }])
  }
})

test('an area is not a position', async () => {
  const area = { type: 'Polygon', coordinates: [] }
  expect(await reportsInText(collection(area, {}))).toEqual(['features of type Polygon'])
})

const collection = (geometry: object, properties: object) =>
  JSON.stringify({
    type: 'FeatureCollection',
    features: [{ type: 'Feature', geometry, properties }],
  })

test('a U+FEFF within a text is preserved', async () => {
  const at = { type: 'Point', coordinates: [1, 2] }
  const properties = { timestamp: '2024-01-01T00:00:00Z', deviceId: 'a', attributes: {} }
  for (const note of ['\ufeff7', 'a\ufeff', '\ufeff\ufeffé', '𐏿\ufeff']) {
    expect(
      await reportsInText(collection(at, { ...properties, attributes: { note } })),
    ).toMatchObject([{ attributes: { note } }])
  }
})
