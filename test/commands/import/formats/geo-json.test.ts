import { expect, test } from '@jest/globals'
import { history, readHistory, told, toldIn } from '../read-history.ts'

test("Dawarich's battery is a percentage, even if it is 1", async () => {
  const { found } = await readHistory(history('dawarich.geojson'))
  expect(told(found)).toMatchObject([
    {
      ...{ deviceId: 'jane', latitude: 55.755826, longitude: 37.6173, altitude: 11, accuracy: 4 },
      ...{ speed: 1.5, heading: 45, battery: 0.01, timestamp: '2021-01-01T00:00:00.000Z' },
      attributes: {
        ...{ charging: false, connection: 'wifi', mode: 1, verticalAccuracy: 1 },
        trigger: 'background_event',
      },
    },
  ])
})

test("Overland's features mean what the app sends", async () => {
  const { found } = await readHistory(history('overland.geojson'))
  expect(told(found)).toMatchObject([
    {
      ...{ deviceId: 'jane', latitude: 37.3318, longitude: -122.030581, accuracy: 30 },
      ...{ altitude: 0, speed: 4, battery: 0.8, timestamp: '2015-10-01T15:00:00.000Z' },
      attributes: { activity: 'driving,stationary', charging: true },
    },
    'features without a geometry',
  ])
})

test('each point of a line has the time in the same place of coordTimes', async () => {
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
    expect(await toldIn(collection(lines, properties))).toMatchObject([
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
  expect(await toldIn(collection(line, { coordTimes: [a], deviceId: 'van' }))).toMatchObject([
    { deviceId: 'van', timestamp: '2024-01-01T00:00:00.000Z' },
    'timestamp is missing',
  ])
  expect(await toldIn(collection(line, {}))).toEqual(['a line must have coordTimes'])
})

test('an area is no position', async () => {
  const area = { type: 'Polygon', coordinates: [] }
  expect(await toldIn(collection(area, {}))).toEqual(['features of type Polygon'])
})

const collection = (geometry: object, properties: object) =>
  JSON.stringify({
    type: 'FeatureCollection',
    features: [{ type: 'Feature', geometry, properties }],
  })

test('a U+FEFF within a text stays in it', async () => {
  const at = { type: 'Point', coordinates: [1, 2] }
  const properties = { timestamp: '2024-01-01T00:00:00Z', deviceId: 'a', attributes: {} }
  for (const note of ['\ufeff7', 'a\ufeff', '\ufeff\ufeffé', '𐏿\ufeff']) {
    expect(await toldIn(collection(at, { ...properties, attributes: { note } }))).toMatchObject([
      { attributes: { note } },
    ])
  }
})
