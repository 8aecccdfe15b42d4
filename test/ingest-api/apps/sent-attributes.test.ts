import { readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { judgePoint } from '../../../ingest-api/apps/submitted-reports.ts'
import {
  chirpstack,
  osmand,
  overland,
  owntracks,
  phonetrack,
  theThingsStack,
  traccarForward,
  type SenderApp,
} from '../../../ingest-api/apps/sender-apps.ts'
import type { AppRequest } from '../../../schemas/formats/senders/app-request.ts'
import { parseFields } from '../../../schemas/formats/senders/fields.ts'
import { newApiKey } from '../../../schemas/access/api-key.ts'
import { T0 } from '../../samples.ts'

const PLACE = { lat: 54.3, lon: 13.1 }
const QUERY = 'id=van&lat=54.3&lon=13.1&batt=80&speed=1'

function judged(app: SenderApp, sent: string | object, parameters = {}) {
  const isQuery = typeof sent === 'string'
  const request: AppRequest = {
    query: parseFields(isQuery ? sent : ''),
    body: Buffer.from(isQuery ? '' : JSON.stringify(sent)),
    mediaType: isQuery ? '' : 'application/json',
    parameters,
    header: () => '',
    literalBasic: false,
  }
  const [item] = app.read(request)
  if (item?.kind !== 'point') throw new Error('it has no position')
  const verdict = judgePoint(item, { deviceId: 'van', now: Date.UTC(2027, 0, 1) })
  if ('faults' in verdict) throw new Error(JSON.stringify(verdict.faults))
  return { attributes: {}, ...verdict.report, dropped: verdict.dropped }
}

function location(more: object) {
  return { _type: 'location', tst: T0 / 1000, ...PLACE, ...more }
}

function feature(properties: object) {
  const geometry = { type: 'Point', coordinates: [13.1, 54.3] }
  return {
    locations: [{ geometry, properties: { timestamp: '2026-01-01T00:00:00Z', ...properties } }],
  }
}

function traccarJson(more: object) {
  const coords = { latitude: 54.3, longitude: 13.1 }
  return { device_id: 'van', location: { timestamp: '2026-01-01T00:00:00Z', coords, ...more } }
}

function forwarded(attributes: object) {
  const position = { latitude: 54.3, longitude: 13.1, fixTime: '2026-01-01T00:00:00Z', attributes }
  return { device: { uniqueId: 'van' }, position }
}

/** A string under each of these names. */
function textsOf(...names: readonly string[]) {
  return Object.fromEntries(names.flatMap((list) => list.split(' ')).map((name) => [name, 'x']))
}

const GATEWAYS = [
  { rssi: -110, snr: -3 },
  { rssi: -80, snr: 9.5, gateway_ids: { gateway_id: 'roof' } },
]

describe('attributes', () => {
  test.each<[string, SenderApp, string | object, object]>([
    [
      'OwnTracks',
      owntracks,
      location({
        vac: 8,
        bs: 2,
        conn: 'm',
        p: 101.3,
        t: 'u',
        tag: 'x',
        poi: 'Home',
        m: 2,
        tid: 'ab',
        SSID: 'cafe',
        BSSID: '0:1',
        inregions: ['home'],
        inrids: ['1'],
        image: '…',
        batt: 3,
      }),
      {
        charging: true,
        connection: 'mobile',
        m: 2,
        poi: 'Home',
        pressure: 1013,
        tag: 'x',
        trigger: 'u',
        verticalAccuracy: 8,
      },
    ],
    [
      'OwnTracks with fields of other names',
      owntracks,
      location({
        alarm: 'sos',
        temperature: 21.5,
        odometer: 12000,
        sat: 9,
        charging: true,
        nested: { a: 1 },
        empty: '',
      }),
      { alarm: 'sos', charging: true, odometer: 12000, satellites: 9, temperature: 21.5 },
    ],
    [
      'OwnTracks as its apps and the Recorder send it',
      owntracks,
      location(
        textsOf(
          '_id _http _cp acc alt vel cog batt tid topic created_at source randomId imagename isotst',
          'isorcv disptst tzname ghash addr cc locality rad desc face inregions inrids',
        ),
      ),
      {},
    ],
    [
      'OwnTracks with unknown values',
      owntracks,
      location({ vac: -1, bs: 0, conn: 'x', t: '' }),
      {},
    ],
    [
      'OwnTracks unplugged',
      owntracks,
      location({ bs: 1, conn: 'o' }),
      { charging: false, connection: 'offline' },
    ],
    [
      'Overland',
      overland,
      feature({
        motion: ['driving', 'stationary'],
        battery_state: 'full',
        battery_level: 0.5,
        vertical_accuracy: '8',
        speed_accuracy: 1,
        course_accuracy: -1,
        altitude_accuracy: 2,
        wifi: 'cafe',
        device_id: 'van',
        pauses: false,
      }),
      {
        activity: 'driving,stationary',
        altitude_accuracy: 2,
        charging: true,
        speed_accuracy: 1,
        verticalAccuracy: 8,
      },
    ],
    [
      'Overland with fields of other names',
      overland,
      feature({ alarm: 'powerCut', temperature: '21.0', track_id: 'a', nested: [1] }),
      { alarm: 'powerCut', temperature: '21.0', track_id: 'a' },
    ],
    [
      'Overland as its apps send it',
      overland,
      feature(
        textsOf(
          'altitude speed course horizontal_accuracy battery_level unique_id locations_in_payload',
          'pauses deferred deffered desired_accuracy significant_change tracking_mode type activity',
        ),
      ),
      {},
    ],
    [
      'Overland without motion',
      overland,
      feature({ motion: [], battery_state: 'unplugged' }),
      { charging: false },
    ],
    [
      'OsmAnd',
      osmand,
      `${QUERY}&charge=true&hdop=0.9&sat=7&odometer=12000&alarm=sos&batt_temp=21.5&code=00123&huge=1e999`,
      {
        alarm: 'sos',
        batt_temp: 21.5,
        charging: true,
        code: '00123',
        hdop: 0.9,
        huge: '1e999',
        odometer: 12000,
        satellites: 7,
      },
    ],
    [
      'OsmAnd with names of networks and secrets',
      osmand,
      `${QUERY}&wifi=00-14-22,-80&SSID=cafe&bssid=1&key=k&api_key=k&speedUnit=mps&notificationToken=t&password=p`,
      {},
    ],
    [
      'Traccar Client 9',
      osmand,
      traccarJson({
        odometer: 12.5,
        event: 'motionchange',
        is_moving: true,
        uuid: 'u',
        activity: { type: 'on_foot' },
        battery: { level: 0.5, is_charging: false },
        extras: { job: 7, nested: { a: 1 } },
      }),
      {
        activity: 'on_foot',
        charging: false,
        event: 'motionchange',
        job: 7,
        motion: true,
        odometer: 12.5,
      },
    ],
    ['Traccar Client 9 without an odometer', osmand, traccarJson({ odometer: -1 }), {}],
    [
      'a Traccar server',
      traccarForward,
      forwarded({
        totalDistance: 1200.5,
        sat: 9,
        batteryLevel: 50,
        ignition: true,
        alarm: 'powerCut',
        power: 12.4,
        nested: {},
        list: [1],
      }),
      { alarm: 'powerCut', ignition: true, odometer: 1200.5, power: 12.4, satellites: 9 },
    ],
    [
      'a Traccar server with both odometers',
      traccarForward,
      forwarded({ totalDistance: 1, odometer: 2 }),
      { odometer: 2 },
    ],
    [
      'The Things Stack',
      theThingsStack,
      {
        end_device_ids: { dev_eui: 'A1' },
        uplink_message: {
          received_at: '2026-01-01T00:00:00Z',
          rx_metadata: GATEWAYS,
          decoded_payload: {
            latitude: 54.3,
            longitude: 13.1,
            altitude: 3,
            batteryPercent: 50,
            temperature: 21,
            mode: 'moving',
            nested: { a: 1 },
          },
        },
      },
      { mode: 'moving', rssi: -80, snr: 9.5, temperature: 21 },
    ],
    [
      'ChirpStack',
      chirpstack,
      {
        time: '2026-01-01T00:00:00Z',
        deviceInfo: { devEui: 'A1' },
        rxInfo: GATEWAYS,
        object: { gps_1: PLACE, humidity: 40 },
      },
      { humidity: 40, rssi: -80, snr: 9.5 },
    ],
    [
      'PhoneTrack',
      phonetrack,
      'lat=54.3&lon=13.1&timestamp=1767225600&sat=7&useragent=phone&acc=3&bat=50&bearing=1',
      { satellites: 7 },
    ],
  ])(
    'the attributes of %s are stored under the agreed names, in the agreed units',
    (_, app, sent, attributes) => {
      expect(judged(app, sent)).toMatchObject({ attributes, dropped: 0 })
      expect(judged(app, sent).attributes).toEqual(attributes)
    },
  )
})

test('a Traccar server’s 1 % is 1 %, its accuracy of 0 is unknown, and its hours are milliseconds', () => {
  const file = new URL('../../fixtures/senders/traccar-battery-1.json', import.meta.url)
  const report = judged(traccarForward, JSON.parse(readFileSync(file, 'utf8')) as object)
  expect(report).toMatchObject({
    battery: 0.01,
    attributes: { engineHours: 34.58, satellites: 15 },
  })
  expect(report).not.toHaveProperty('accuracy')
  expect(report.attributes).not.toHaveProperty('hours')
})

test('1 % of GPSLogger in the format of Overland is not a full battery, and 1 of Overland is', () => {
  const battery = (properties: object) => judged(overland, feature(properties)).battery
  expect(battery({ battery_level: 1, deferred: 1000 })).toBe(1)
  expect(battery({ battery_level: 0.4, deferred: 1000 })).toBe(0.4)
  for (const [sent, level] of [
    [100, 1],
    [91, 0.91],
    [1, 0.01],
    ['1', 0.01],
    [0, 0],
  ]) {
    expect(battery({ battery_level: sent, deffered: 0 })).toBe(level)
  }
})

test('a point of PhoneTrack’s list keeps the number of satellites', () => {
  const points = [[54.3, 13.1, T0 / 1000, 1, 2, 50, 7, 'phone', 1, 2]]
  expect(judged(phonetrack, { points }, { app: 'multiple' }).attributes).toEqual({ satellites: 7 })
})

test('a known attribute in a query gets its type, in any notation', () => {
  const query = `${QUERY}&ignition=OFF&motion=1&charge=yes&hdop=1.0&alarm=7&event=true&firmware=1.0`
  expect(judged(osmand, query)).toMatchObject({
    attributes: {
      ignition: false,
      motion: true,
      charging: true,
      hdop: 1,
      alarm: '7',
      event: 'true',
      firmware: 1,
    },
  })
})

test('attributes that do not fit are omitted and counted, but the point is stored', () => {
  const many = Array.from({ length: 33 }, (_, n) => `a${n}=1`).join('&')
  expect(judged(osmand, `${QUERY}&${many}`)).toMatchObject({ latitude: 54.3, dropped: 1 })
  const bad = forwarded({ ['x'.repeat(65)]: 1, 'b d': 1, text: 'x'.repeat(257), good: 1 })
  expect(judged(traccarForward, bad)).toMatchObject({ attributes: { good: 1 }, dropped: 3 })
})

test('only a few of a hundred thousand fields become attributes, including an alarm at the end', () => {
  const names = Array.from({ length: 100_000 }, (_, n) => [`a${n}`, 1] as const)
  const sent = location({ ...Object.fromEntries(names), alarm: 'sos' })
  const { attributes, dropped } = judged(owntracks, sent)
  expect(attributes).toMatchObject({ a0: 1, a30: 1, alarm: 'sos' })
  expect([Object.keys(attributes).length, dropped]).toEqual([32, 33])
})

test('a key never becomes an attribute', () => {
  const key = newApiKey()
  const texts = [judged(osmand, `${QUERY}&key=${key}&note=${key}&${key}=1`)]
  texts.push(judged(traccarForward, forwarded({ note: `my ${key}` })))
  expect(JSON.stringify(texts)).not.toContain(key)
})

test('query fields named like inherited properties become attributes', () => {
  const sent = judged(osmand, `${QUERY}&constructor=c&toString=1&toString=2&__proto__=p`)
  expect(sent).toMatchObject({ attributes: { constructor: 'c', toString: 1 } })
})

test('names of inherited properties are harmless', () => {
  const sent = JSON.parse('{"__proto__":{"a":1},"constructor":"c","toString":1}') as object
  const { attributes } = judged(traccarForward, {
    ...forwarded({}),
    position: { ...forwarded(sent).position },
  })
  expect(attributes).toEqual(expect.objectContaining({ toString: 1 }))
  expect(Object.getPrototypeOf(attributes)).toBe(Object.prototype)
})
