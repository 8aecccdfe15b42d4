import { expect, test } from '@jest/globals'
import { asReports, history, readHistory, reportsInText } from './read-history.ts'

const FIRST = {
  latitude: 52.225,
  longitude: 13.332,
  accuracy: 10,
  altitude: 36,
  speed: 10,
  heading: 98,
  timestamp: '2024-03-01T09:03:09.000Z',
}
const SECOND = {
  latitude: 52.226,
  longitude: 13.333,
  speed: 5,
  timestamp: '2024-03-01T09:03:19.000Z',
}

test("the Recorder's JSON reads the same as the app's messages", async () => {
  const { found } = await readHistory(history('ocat.json'))
  expect(asReports(found)).toEqual([
    { deviceId: 'bob/tablet', ...FIRST, battery: 0.94, attributes: { charging: true } },
    { deviceId: 'given', ...SECOND },
    'entries without a position',
  ])
})

test("the Recorder's GeoJSON has km/h too, and its tid is not a device", async () => {
  const { found } = await readHistory(history('ocat.geojson'))
  expect(asReports(found)).toEqual([
    { deviceId: 'given', ...FIRST },
    { deviceId: 'bob/tablet', ...SECOND },
  ])
})

test("the Recorder's CSV reads the same", async () => {
  const { found } = await readHistory(history('ocat.csv'))
  const attributes = { charging: true, verticalAccuracy: 4 }
  expect(asReports(found)).toEqual([
    { deviceId: 'bob/tablet', ...FIRST, battery: 0.94, attributes },
    { deviceId: 'bob/tablet', ...SECOND },
  ])
  // With selected fields.
  expect(await reportsInText('lat,lon,tst\n52.226,13.333,1709283799\n')).toEqual([
    { deviceId: 'given', latitude: 52.226, longitude: 13.333, timestamp: SECOND.timestamp },
  ])
})

test.each([
  ['its API', (one: object) => JSON.stringify({ count: 1, data: [one], status: 200 })],
  ['its API, without a count', (one: object) => JSON.stringify({ data: [one] })],
  [
    'an earlier ocat',
    (one: object) => JSON.stringify({ locations: [one], count: 1 }, undefined, 1),
  ],
  ['a list of messages', (one: object) => JSON.stringify([one], undefined, 2)],
  ['a message on each line', (one: object) => `${JSON.stringify(one)}\n${JSON.stringify(one)}\n`],
])('messages in %s are read, with and without a type', async (_where, write) => {
  const message = { lat: 52.226, lon: 13.333, tst: 1709283799, vel: 18, topic: 'owntracks/a/b' }
  for (const one of [message, { _type: 'location', ...message }]) {
    const [report] = await reportsInText(write(one))
    expect(report).toEqual({ deviceId: 'a/b', ...SECOND })
  }
})

test('an element that is not a message is reported', async () => {
  expect(
    await reportsInText('{"count":1,"locations":[7,{"lat":1,"lon":2,"tst":1}]}'),
  ).toMatchObject(['a location must be an object', expect.anything()])
})
