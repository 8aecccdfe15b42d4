import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { decodedPayload } from '../../../../schemas/formats/senders/decoded-payload.ts'
import { batchOf, LogOfOneSuite } from '../../../contracts/store-samples.ts'
import { positionReported } from '../../../samples.ts'
import { ingestForAllTests, type IngestHarness } from '../../../ingest-api/ingest-harness.ts'
import { bearer } from '../../../ingest-api/apps/app-requests.ts'
import { rejectionsOf } from '../../../ingest-api/apps/rejections-of.ts'

const TTS = '/api/v1/senders/the-things-stack'
const CHIRPSTACK = '/api/v1/senders/chirpstack'

let ingest: IngestHarness
ingestForAllTests((given) => ({ ingest } = given))

beforeAll(async () => {
  ingest.clock.time = Date.UTC(2026, 10, 25, 18)
  const known = positionReported({ accountId: 'acc-1', deviceId: 'KNOWN' })
  await ingest.store.project(batchOf(new LogOfOneSuite().append(known)))
})

async function send(path: string, body: string | object) {
  const { id, secret } = await ingest.createKey()
  const answer = await ingest.request(path, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { ...bearer(secret), 'Content-Type': 'application/json' },
  })
  expect(answer.status).toBe(200)
  return {
    positions: (await ingest.logged()).filter(({ keyId }) => keyId === id),
    rejections: await rejectionsOf(ingest, id),
  }
}

function fixture(name: string): string {
  return readFileSync(new URL(`../../../fixtures/senders/${name}.json`, import.meta.url), 'utf8')
}

const PLACE = { latitude: 54.3, longitude: 10.1 }

describe('a decoded payload', () => {
  test('of an LGT-92 has its position although LON is an LED', async () => {
    const { positions, rejections } = await send(TTS, fixture('tts-lgt92'))
    expect(positions).toMatchObject([
      {
        latitude: 22.70626,
        longitude: 114.24252,
        altitude: 0,
        attributes: { BatV: 3.36, LON: 'ON', hdop: 0 },
      },
    ])
    expect(rejections).toEqual([])
  })

  test.each([
    [
      { sats: 7, Hum: 40.5, Tem: -3 },
      { satellites: 7, humidity: 40.5, temperature: -3 },
    ],
    [
      { temperature_1: 4, temperature_2: 5, relative_humidity_3: 60, barometric_pressure_0: 1013 },
      { temperature: 4, temperature_2: 5, humidity: 60, pressure: 1013 },
    ],
    [
      { temperature: 1, temperature_2: 5 },
      { temperature: 1, temperature_2: 5 },
    ],
    [
      { Temp: 'high', tempMode: 2 },
      { Temp: 'high', tempMode: 2 },
    ],
  ])('has %j under our names', (payload, attributes) => {
    expect(decodedPayload({ ...PLACE, ...payload }).attributes).toEqual(attributes)
  })

  test('of a SenseCAP T1000 is read from a list: position, battery and temperature', async () => {
    const { positions } = await send(TTS, fixture('tts-sensecap-t1000'))
    expect(positions).toMatchObject([
      {
        deviceId: '2CF7F1C0533000A1',
        latitude: 22.576,
        longitude: 113.944,
        battery: 0.92,
        // The tracker's time.
        timestamp: 1_795_628_840_000,
        attributes: { temperature: 28.2, rssi: -70, snr: 9 },
      },
    ])
    expect(positions[0]!.attributes).not.toHaveProperty('airTemperature')
  })

  test('of a SenseCAP with several times has a position for each, and the readings without a time', () => {
    const moment = (time: number, longitude: number) => [
      {
        measurementId: '4197',
        type: 'Longitude',
        measurementValue: String(longitude),
        timestamp: time,
      },
      { measurementId: '4198', type: 'Latitude', measurementValue: 1, timestamp: time },
      { measurementId: '4199', type: 'Light', measurementValue: '7', timestamp: time },
    ]
    const more = [
      { measurementId: '3000', type: 'Battery', measurementValue: '1' },
      { measurementId: '3940', type: 'Work Mode', measurementValue: 2 },
      { measurementId: '5001', type: 'Wi-Fi Scan', measurementValue: [{ mac: 'a', rssi: 1 }] },
    ]
    const messages = [moment(1000, 2), more, moment(2000, -3), 5, null]
    expect(decodedPayload({ messages })).toEqual({
      positions: [
        {
          latitude: 1,
          longitude: 2,
          measured: {},
          sentTime: 1000,
          attributes: { light: 7 },
        },
        {
          latitude: 1,
          longitude: -3,
          measured: {},
          sentTime: 2000,
          attributes: { light: 7 },
        },
      ],
      isWithoutFix: false,
      battery: '1',
      attributes: { workMode: 2 },
    })
  })

  test('of an older SenseCAP is read from a single list', () => {
    const messages = [
      { measurementId: 4097, type: 'report_telemetry', measurementValue: 21 },
      { measurementId: 4098, type: 'Air Humidity', measurementValue: 40 },
    ]
    expect(decodedPayload({ messages })).toMatchObject({
      positions: [],
      attributes: { temperature: 21, airHumidity: 40 },
    })
  })

  test('with an impossible time gets that of the uplink', async () => {
    const sent = fixture('tts-sensecap-t1000')
    for (const wrong of ['0', '4102444800000']) {
      const { positions } = await send(TTS, sent.replaceAll('1795628840000', wrong))
      expect(positions).toMatchObject([{ timestamp: Date.UTC(2026, 10, 25, 17, 47, 22, 123) }])
    }
  })

  test.each<[string, object]>([
    ['latitude, longitude', { latitude: 54.3, longitude: 10.1 }],
    ['lat, lon', { lat: 54.3, lon: 10.1 }],
    ['lat, lng', { lat: 54.3, lng: 10.1 }],
    ['lat, long', { lat: 54.3, long: 10.1 }],
    ['latitudeDeg, longitudeDeg', { latitudeDeg: 54.3, longitudeDeg: 10.1 }],
    ['Latitude, Longitude', { Latitude: 54.3, Longitude: 10.1 }],
    ['Latitude, Longitud', { Latitude: 54.3, Longitud: 10.1 }],
    ['gpsLatitude, gpsLongitude', { gpsLatitude: 54.3, gpsLongitude: 10.1 }],
    ['numbers as texts', { lat: '54.3', lng: '10.1' }],
    ['one level below', { position: { lat: 54.3, lng: 10.1 } }],
    ['the exact name first', { LATITUDE: 1, LON: 2, latitude: 54.3, longitude: 10.1 }],
    [
      'the name with a number',
      { latitude: 'none', lat: 54.3, LON: 'ON', longitude: null, lng: 10.1 },
    ],
    ['the name with a number within range', { latitude: 543, lat: 54.3, longitude: 10.1 }],
    ['the top level first', { old: { latitude: 1, longitude: 2 }, lat: 54.3, lon: 10.1 }],
  ])('has its position under common names: %s', (_, payload) => {
    const [position, ...more] = decodedPayload(payload).positions
    expect(more).toEqual([])
    expect([Number(position?.latitude), Number(position?.longitude)]).toEqual([54.3, 10.1])
  })

  test.each<[string, object]>([
    ['what is in `cached`', { cached: PLACE }],
    ['a fence', { geofence_center_config: PLACE }],
    ['the last place', { lastPosition: PLACE }],
    ['two levels below', { a: { b: PLACE } }],
    ['one coordinate alone', { latitude: 54.3 }],
    ['coordinates of different objects', { a: { latitude: 54.3 }, b: { longitude: 10.1 } }],
    ['numbers out of range', { latitude: 91, longitude: 181 }],
    ['texts', { latitude: '54.3°', longitude: '10.1°' }],
  ])('does not treat as a position: %s', (_, payload) => {
    expect(decodedPayload(payload).positions).toEqual([])
  })
})

describe('a pressed panic button', () => {
  const event = (measurementValue: unknown, more = {}) => ({
    messages: [[{ measurementId: '4200', type: 'Event Status', measurementValue, ...more }]],
  })

  test.each<[string, object]>([
    ['Dragino’s ALARM_status TRUE', { ALARM_status: 'TRUE' }],
    ['Dragino’s ALARM_status true', { ALARM_status: true }],
    ['Alarm', { Alarm: 1 }],
    ['an alarm that has no name', { alarm: true }],
    ['sos', { sos: 'true' }],
    ['panic', { panic: true }],
    ['panic_button', { panic_button: 'ON' }],
    ['Abeeway’s sosFlag', { sosFlag: 1 }],
    ['Abeeway’s event', { eventType: 'SOS_MODE_START', sosFlag: 0 }],
    ['Abeeway’s header, one level below', { header: { sos: true, type: 'POSITION' } }],
    ['SenseCAP’s event 7', event([{ id: 1 }, { id: 7, eventName: 'SOS event.' }])],
    ['SenseCAP’s event 7 in another language', event([{ id: '7', eventName: 'Notruf' }])],
    ['SenseCAP’s event as a text', event('SOS event.')],
    ['an older SenseCAP’s', event(1, { type: 'SOS Event' })],
  ])('is the alarm sos: %s', (_, payload) => {
    expect(decodedPayload(payload).attributes).toMatchObject({ alarm: 'sos' })
  })

  test.each<[string, object]>([
    ['ALARM_status FALSE', { ALARM_status: 'FALSE' }],
    ['numbers and texts that say no', { sos: 0, panic: 'no', Alarm: 'OFF', sosFlag: false }],
    ['the end of an alarm', { eventType: 'SOS_MODE_END' }],
    ['the settings of a button', { config: { sos: true }, sos_settings: { panic: true } }],
    ['the last state', { lastReport: { sos: true } }],
    ['the alarm of another reading', { temperature: { value: 60, alarm: true } }],
    ['other names', { sosCount: 1, alarm_enabled: true, geofence_alarm: true }],
    ['other events of SenseCAP', event([{ id: 1, eventName: 'Start moving event.' }])],
    ['a 7 of another measurement', { messages: [{ measurementId: '4097', measurementValue: 7 }] }],
  ])('is not %s', (_, payload) => {
    const { alarm } = decodedPayload(payload).attributes
    expect(alarm).toBeUndefined()
  })

  test('is not made from objects that have no text', () => {
    const object = { toString: 1, valueOf: 1 }
    const message = { measurementId: object, type: object, measurementValue: [object] }
    const events = { measurementId: '4200', measurementValue: [{ id: object, eventName: object }] }
    const payload = { alarm: object, eventType: object, sos: [object], messages: [message, events] }
    expect(decodedPayload(payload)).toMatchObject({ attributes: {}, positions: [] })
  })

  test('does not replace an alarm with a name', () => {
    const alarmOf = (payload: object) => decodedPayload(payload).attributes['alarm']
    expect(alarmOf({ alarm: 'lowBattery', sos: true })).toBe('sos,lowBattery')
    expect(alarmOf({ alarm: 'SOS', sos: true })).toBe('SOS')
    expect(alarmOf({ alarm: 'none', sos: true })).toBe('sos')
    expect(alarmOf({ alarm: 'lowBattery', sos: false })).toBe('lowBattery')
  })

  test('is added to the position, and is not a repeat if the fix is the same', async () => {
    const uplink = (alarm: string) => fixture('tts-lgt92').replace('"FALSE"', `"${alarm}"`)
    const { positions } = await send(TTS, uplink('TRUE'))
    expect(positions).toMatchObject([{ attributes: { alarm: 'sos', ALARM_status: 'TRUE' } }])
    const before = await send(TTS, uplink('FALSE'))
    expect(before.positions[0]?.attributes).not.toHaveProperty('alarm')
    expect(before.positions[0]?.recordId).not.toBe(positions[0]?.recordId)
  })

  test('of a SenseCAP has its own time', async () => {
    const sos =
      '{"measurementId":"4200","timestamp":1795628840000,"measurementValue":[{"id":7,"eventName":"SOS event."}]},'
    const sent = fixture('tts-sensecap-t1000').replace('[[', `[[${sos}`)
    const { positions } = await send(TTS, sent)
    expect(positions).toMatchObject([{ latitude: 22.576, attributes: { alarm: 'sos' } }])
  })

  test('is kept even if there are too many other readings', async () => {
    const readings = Array.from({ length: 40 }, (_, n) => [`reading${n}`, n] as const)
    const payload = { ...Object.fromEntries(readings), ...PLACE, panic: true }
    const uplink_message = { decoded_payload: payload, received_at: '2026-11-25T17:00:00Z' }
    const { positions } = await send(TTS, { end_device_ids: { dev_eui: 'A1' }, uplink_message })
    expect(positions).toMatchObject([{ attributes: { alarm: 'sos', reading0: 0 } }])
  })
})

describe('stored positions', () => {
  const [FIRST, SECOND] = ['2026-11-25T16:00:00.000Z', '2026-11-25T16:10:00.000Z']
  const seconds = (time: string) => Date.parse(time) / 1000
  const history = [
    { timestamp: seconds(FIRST), longitude: 16.36, latitude: 48.2 },
    { timestamp: seconds(SECOND), longitude: 16.365, latitude: 48.205 },
  ]
  const uplink = (payload: object) => ({
    end_device_ids: { dev_eui: 'STORED' },
    uplink_message: { received_at: '2026-11-25T17:00:00Z', decoded_payload: payload },
  })
  const event = (object: object) => ({
    deviceInfo: { devEui: 'STORED' },
    time: '2026-11-25T17:00:00Z',
    object,
  })
  const TWO = [
    { latitude: 48.2, longitude: 16.36, timestamp: Date.parse(FIRST) },
    { latitude: 48.205, longitude: 16.365, timestamp: Date.parse(SECOND) },
  ]

  test.each<[string, string, object]>([
    ['Milesight’s history', TTS, uplink({ history })],
    ['Milesight’s history', CHIRPSTACK, event({ history })],
    [
      'a list of other names, with times as texts',
      TTS,
      uplink({
        fixes: [
          { lat: '48.2', lng: '16.36', time: FIRST },
          { lat: 48.205, lng: 16.365, time: SECOND },
        ],
      }),
    ],
    ['a list one level below', CHIRPSTACK, event({ data: { records: history } })],
    [
      'beside positions without a fix',
      TTS,
      uplink({ history: [...history, { timestamp: 1, latitude: 0, longitude: 0 }] }),
    ],
  ])('are positions with their times: %s (%s)', async (_, path, sent) => {
    const { positions, rejections } = await send(path, sent)
    expect(positions).toMatchObject(TWO)
    expect(rejections).toEqual([])
  })

  test('precede the current position, which alone has the current readings', async () => {
    const { positions } = await send(TTS, uplink({ ...PLACE, history, temperature: 21.8 }))
    expect(positions).toMatchObject([...TWO, { ...PLACE, attributes: { temperature: 21.8 } }])
    expect(positions[0]).not.toHaveProperty('attributes')
  })

  test("with an impossible time are rejected: the uplink's time is not theirs", async () => {
    const [wrong, right] = [{ ...history[0], timestamp: 7 }, history[1]]
    const { positions, rejections } = await send(TTS, uplink({ history: [wrong, right] }))
    expect(positions).toMatchObject(TWO.slice(1))
    expect(rejections).toMatchObject([{ message: 'timestamp 7 is before 2000' }])
  })

  test('of a Dragino tracker have date and time in two fields', async () => {
    const stored = { Latitude: 48.2, Longitud: 16.36, Date: '2026:11:25', Time: '9:5:7' }
    const { positions } = await send(TTS, uplink(stored))
    expect(positions).toMatchObject([{ timestamp: Date.UTC(2026, 10, 25, 9, 5, 7) }])
    const { positions: broken } = await send(TTS, uplink({ ...stored, Date: '0:0:0' }))
    expect(broken).toMatchObject([{ timestamp: Date.UTC(2026, 10, 25, 17) }])
  })

  test('do not include coordinates without times, or in `cached`', () => {
    const places = [{ latitude: 48.2, longitude: 16.36 }]
    expect(decodedPayload({ anchors: places, cached: history }).positions).toEqual([])
  })
})

describe('an uplink with a payload but without a position', () => {
  const uplink = (device: string, uplink: object) => ({
    end_device_ids: { dev_eui: device },
    uplink_message: { ...uplink, rx_metadata: [] },
  })
  const event = (devEui: string, more: object) => ({ deviceInfo: { devEui }, ...more })
  const LACKS =
    'the uplink of a device without a position so far has no latitude and longitude that are numbers within range, but '

  test.each<[string, string, object, string]>([
    [
      'a sensor’s',
      TTS,
      uplink('NEW1', { decoded_payload: { temp: 3, batV: 4 } }),
      `${LACKS}temp, batV`,
    ],
    ['a sensor’s', CHIRPSTACK, event('NEW2', { object: { temp: 3 } }), `${LACKS}temp`],
    [
      'a position out of range',
      TTS,
      uplink('NEW3', { decoded_payload: { latitude: 200, longitude: 2 } }),
      `${LACKS}latitude, longitude`,
    ],
    [
      'one that nothing has decoded',
      TTS,
      uplink('NEW4', { frm_payload: 'AQ==' }),
      'the uplink of a device without a position so far has no decoded payload: it needs a decoder',
    ],
    [
      'one that nothing has decoded',
      CHIRPSTACK,
      event('NEW5', { data: 'AQ==' }),
      'the uplink of a device without a position so far has no decoded payload: it needs a decoder',
    ],
  ])(
    'is rejected with that reason if its device is unknown: %s (%s)',
    async (_, path, body, lacks) => {
      const message = `${path.split('/').at(-1)}: ${lacks}`
      const { positions, rejections } = await send(path, body)
      expect(positions).toEqual([])
      expect(rejections).toMatchObject([
        { deviceId: expect.stringMatching(/^NEW/), error: 'INVALID_PARAMS', message },
      ])
      expect(JSON.parse(rejections[0]!.body ?? '')).toEqual(body)
    },
  )

  test.each<[string, string, object]>([
    ['a sensor’s', TTS, uplink('KNOWN', { decoded_payload: { temp: 3 } })],
    ['one that nothing has decoded', CHIRPSTACK, event('KNOWN', { data: 'AQ==' })],
  ])('is a heartbeat if its device has reported a position: %s', async (_, path, body) => {
    const { positions, rejections } = await send(path, body)
    expect([positions, rejections]).toEqual([[], []])
  })

  test('names a few of many fields, and masks API keys in their names', async () => {
    const { secret } = await ingest.createKey()
    const names = [...Array.from({ length: 20 }, (_, n) => `field${n}`)]
    const payload = Object.fromEntries([secret, ...names].map((name) => [name, 1]))
    const { rejections } = await send(TTS, uplink('NEW6', { decoded_payload: payload }))
    expect(rejections[0]?.message).toContain('field1')
    expect(rejections[0]?.message).toContain('…')
    expect(rejections[0]?.message.length).toBeLessThan(500)
    expect(JSON.stringify(rejections)).not.toContain(secret)
  })

  test('without a payload is still a heartbeat of a new device: a join, or a network-only uplink', async () => {
    const join = { end_device_ids: { dev_eui: 'NEW8' }, join_accept: {} }
    for (const body of [uplink('NEW7', {}), join]) {
      expect((await send(TTS, body)).rejections).toMatchObject([
        { message: expect.stringContaining('a message without one') },
      ])
    }
  })
})
