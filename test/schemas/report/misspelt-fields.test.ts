import { describe, expect, test } from '@jest/globals'
import { newApiKey } from '../../../schemas/access/api-key.ts'
import { findMisspeltFields, addMisspelt } from '../../../schemas/report/misspelt-fields.ts'

const REPORT = {
  deviceId: 'van',
  latitude: 1,
  longitude: 2,
  timestamp: null,
  accuracy: 1,
  altitude: 2,
  speed: 1,
  heading: 2,
  battery: 0.5,
  attributes: { lattitude: 1 },
}

describe('unknown fields', () => {
  test.each([
    ...['lattitude', 'latitde', 'latiude', 'latitute', 'latiutde', 'Latitude', 'LATITUDE'],
    ...['device_id', 'deviceID', 'device-id', 'devceId', 'time_stamp', 'timestmp', 'accurracy'],
    ...['speeed', 'batery', 'attribute', 'heading_'],
  ])('that are probably misspelt are named: %s', (name) => {
    expect(findMisspeltFields([{ ...REPORT, [name]: 1 }])).toEqual([name])
  })

  test.each([
    ...['lat', 'lon', 'device', 'time', 'hdop', 'speedKmh', 'name', '', '__proto__', 'constructor'],
    ...['latitudinal', 'x'.repeat(500)],
  ])('that may have another meaning are not named: %s', (name) => {
    const report: unknown = JSON.parse(JSON.stringify(REPORT).replace('{', `{"${name}":1,`))
    expect(findMisspeltFields([report])).toEqual([])
  })

  test('are compared only up to a limit, to save time', () => {
    const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`n${n}`, 1]))
    expect(findMisspeltFields([many, { lattitude: 1 }])).toEqual([])
    const misspelt = Array.from({ length: 20 }, (_, n) => [`latitude${n}`, 1] as const)
    expect(findMisspeltFields([Object.fromEntries(misspelt)])).toHaveLength(5)
  })

  test.each([
    [null],
    [undefined],
    [{ lattitude: undefined }],
    [[{ lattitude: 1 }]],
    ['lattitude'],
    [7],
  ])('exist only in objects: %j', (report) => expect(findMisspeltFields([report])).toEqual([]))
})

test('a message names each misspelt field of several reports once, and no API key', () => {
  const key = newApiKey()
  expect(addMisspelt('2 accepted', [{ speeed: 1 }, REPORT, { speeed: 2, batery: 1 }])).toBe(
    '2 accepted; ignored: speeed, batery',
  )
  expect(addMisspelt('done', [REPORT])).toBe('done')
  expect(addMisspelt('done', [{ [`speed_${key}`]: 1 }])).not.toContain(key)
})
