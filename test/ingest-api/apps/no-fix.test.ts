import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { ingestForAllTests, type IngestHarness } from '../ingest-harness.ts'
import { bearer, OSMAND, OWNTRACKS } from './app-requests.ts'
import { rejectionsOf } from './rejections-of.ts'

const FORWARD = '/api/v1/senders/traccar-forward'
const TTS = '/api/v1/senders/the-things-stack'
const CHIRPSTACK = '/api/v1/senders/chirpstack'

let ingest: IngestHarness
ingestForAllTests((given) => ({ ingest } = given))

beforeAll(() => {
  ingest.clock.time = Date.UTC(2026, 10, 25, 18)
})

type Sent = string | object

/** Sends JSON, or a query to a path of the key. */
async function send(path: string, sent: Sent) {
  const { id, secret } = await ingest.createKeyOfNewAccount()
  const answer =
    typeof sent === 'string'
      ? await ingest.request(path.replace(':key', secret) + (sent && `?${sent}`), {
          headers: bearer(secret),
        })
      : await ingest.request(path, {
          method: 'POST',
          body: JSON.stringify(sent),
          headers: { ...bearer(secret), 'Content-Type': 'application/json' },
        })
  expect(answer.status).toBe(200)
  return id
}

async function positionsOf(keyId: string) {
  return (await ingest.logged()).filter((event) => event.keyId === keyId)
}

async function withoutFix(): Promise<number> {
  const { values } = await ingest.metrics.positionsWithoutFix.get()
  return values.reduce((sum, { value }) => sum + value, 0)
}

function fixture(name: string): object {
  const file = new URL(`../../fixtures/senders/${name}.json`, import.meta.url)
  return JSON.parse(readFileSync(file, 'utf8')) as object
}

function forwarded(position: object) {
  const place = { latitude: 54.3, longitude: 10.1, fixTime: '2026-11-25T17:00:00Z', valid: true }
  return { device: { uniqueId: 'van' }, position: { ...place, ...position } }
}

function uplink(payload: object, more: object = {}) {
  return {
    end_device_ids: { dev_eui: 'A1' },
    uplink_message: { received_at: '2026-11-25T17:00:00Z', decoded_payload: payload, ...more },
  }
}

const event = (object: object) => ({
  deviceInfo: { devEui: 'A1' },
  time: '2026-11-25T17:00:00Z',
  object,
})

const PLACE = { latitude: 54.3, longitude: 10.1 }
const GPRMC = 'gprmc=$GPRMC,100000.00,V,0130.0000,S,00215.0000,W,10.0,90.0,251126,,*00'

describe('a message that its device marks as having no fix', () => {
  test.each<[string, string, Sent, object]>([
    [
      'a Traccar server’s invalid position',
      FORWARD,
      fixture('traccar-valid-false'),
      { deviceId: 't-invalid', attributes: { deviceTemp: 41, engineHours: 34.58, fuel: 30.5 } },
    ],
    [
      'a Traccar server’s position of 1970',
      FORWARD,
      fixture('traccar-nofix-1970'),
      { deviceId: 't-nofix', battery: 0.9, attributes: { ip: '10.0.0.1' } },
    ],
    [
      'the last position, which a Traccar server repeats as outdated',
      FORWARD,
      fixture('traccar-outdated-2'),
      { deviceId: 't-3224', battery: 0.6, attributes: { ignition: true } },
    ],
    ['a position of 1999', FORWARD, forwarded({ fixTime: '1999-12-31T23:59:59Z' }), {}],
    [
      'an Oyster whose decoder has the last position in `cached`',
      TTS,
      fixture('tts-oyster-cached'),
      {
        deviceId: '70B3D57050000002',
        attributes: expect.objectContaining({ batV: 3.5, fixFailed: true, inTrip: false }),
      },
    ],
    [
      'a Wio tracker that sees no satellites',
      TTS,
      fixture('tts-wio-nofix'),
      {
        deviceId: '2CF7F1C0533000A2',
        attributes: expect.objectContaining({ satellites: 0, rssi: -70 }),
      },
    ],
    ['a position in `cached` alone', TTS, uplink({ cached: PLACE }), {}],
    [
      'fixFailed beside a position',
      TTS,
      uplink({ ...PLACE, fixFailed: true, batteryLevel: 1 }),
      { battery: 0.01 },
    ],
    ['gpsStatus false', CHIRPSTACK, event({ ...PLACE, gpsStatus: false }), {}],
    ['fix false, as a text', CHIRPSTACK, event({ ...PLACE, fix: 'FALSE' }), {}],
    ['satellites 0', CHIRPSTACK, event({ ...PLACE, satellites: 0 }), {}],
    ['sat 0', CHIRPSTACK, event({ ...PLACE, sat: '0' }), {}],
    [
      'numSat 0 beside the position, one level below',
      TTS,
      uplink({ gps: { ...PLACE, numSat: 0 } }),
      {},
    ],
    [
      'no fix, next to the position that The Things Stack has read from it',
      TTS,
      uplink({ ...PLACE, sats: 0 }, { locations: { 'frm-payload': PLACE } }),
      {},
    ],
    [
      'a TrackerD at 0°, 0°',
      TTS,
      uplink({
        Location: 0,
        Latitude: 0,
        Longitud: 0,
        BatV: 3.9,
        ALARM_status: 'FALSE',
        LON: 'ON',
      }),
      { attributes: expect.objectContaining({ ALARM_status: 'FALSE', BatV: 3.9 }) },
    ],
    [
      'an LGT-92 at 0°, 0°',
      CHIRPSTACK,
      event({ latitude: 0, longitude: 0, hdop: 99.9, batteryLevel: 80 }),
      { battery: 0.8, attributes: { hdop: 99.9 } },
    ],
    [
      'a position near 0°, 0° one level below, as texts',
      TTS,
      uplink({ gps: { lat: '0.0005', lon: '-0.0009' } }),
      {},
    ],
    [
      'the 0°, 0° that The Things Stack has read from a payload',
      TTS,
      uplink({ mode: 1 }, { locations: { 'frm-payload': { latitude: 0, longitude: 0 } } }),
      { attributes: { mode: 1 } },
    ],
    [
      'the 0°, 0° of a SenseCAP',
      TTS,
      uplink({
        messages: [
          [
            { measurementId: '4197', measurementValue: 0 },
            { measurementId: '4198', measurementValue: 0 },
          ],
        ],
      }),
      {},
    ],
    [
      'OsmAnd’s protocol with valid=0',
      OSMAND,
      'id=A1&lat=1&lon=2&valid=0&batt=1',
      { battery: 0.01 },
    ],
    ['OsmAnd’s protocol with valid=false', OSMAND, 'id=A1&lat=1&lon=2&valid=false', {}],
    ['a void sentence of NMEA', '/log/opengts/:key/A1', `${GPRMC}&batt=50`, { battery: 0.5 }],
    [
      'OsmAnd at 0°, 0° with 0 satellites',
      OSMAND,
      'id=A1&lat=0.0004&lon=-0.0009&sat=0&batt=7',
      { battery: 0.07, attributes: { satellites: 0 } },
    ],
    ['PhoneTrack at 0°, 0° with 0 satellites', '/log/gpslogger/:key/A1', 'lat=0&lon=0&sat=0', {}],
  ])(
    '%s is a heartbeat with battery and attributes, and a rejection of a device that has had no position',
    async (_, path, sent, telemetry) => {
      const before = await withoutFix()
      const id = await send(path, sent)
      expect(await ingest.heartbeatsOf(id)).toEqual([expect.objectContaining(telemetry)])
      expect(await positionsOf(id)).toEqual([])
      expect(await rejectionsOf(ingest, id)).toMatchObject([
        { message: expect.stringContaining('without a position so far') },
      ])
      expect(await withoutFix()).toBe(before + 1)
    },
  )
})

describe('a position without such a mark', () => {
  test.each<[string, string, Sent, object]>([
    ['0°, 0° without a number of satellites', OSMAND, 'id=A1&lat=0&lon=0', { latitude: 0 }],
    [
      '0 satellites elsewhere',
      OSMAND,
      'id=A1&lat=1&lon=2&sat=0',
      { attributes: { satellites: 0 } },
    ],
    ['0 satellites near 0°, at 1° east', OSMAND, 'id=A1&lat=0&lon=1&sat=0', { longitude: 1 }],
    ['valid=1', OSMAND, 'id=A1&lat=1&lon=2&valid=1', { latitude: 1 }],
    [
      'a position by cells, which a Traccar server leaves outdated',
      FORWARD,
      forwarded({ outdated: true, attributes: { approximate: true } }),
      { attributes: { approximate: true } },
    ],
    ['a Traccar server’s first position', FORWARD, fixture('traccar-outdated-1'), { battery: 0.8 }],
    [
      '0°, 0° of a decoder that sees satellites',
      TTS,
      uplink({ latitude: 0, longitude: 0, sats: 7 }),
      { latitude: 0, longitude: 0 },
    ],
    ['0° north alone', CHIRPSTACK, event({ latitude: 0, longitude: 10 }), { longitude: 10 }],
    ['fixFailed false', TTS, uplink({ ...PLACE, fixFailed: false }), PLACE],
    [
      'a position that is newer than the one in `cached`',
      TTS,
      uplink({ ...PLACE, cached: { latitude: 1, longitude: 2 } }),
      PLACE,
    ],
  ])('is a position: %s', async (_, path, sent, position) => {
    const before = await withoutFix()
    const id = await send(path, sent)
    expect(await positionsOf(id)).toEqual([expect.objectContaining(position)])
    expect(await ingest.heartbeatsOf(id)).toEqual([])
    expect(await withoutFix()).toBe(before)
  })
})

describe('a heartbeat', () => {
  test.each<[string, string, Sent, object]>([
    [
      'OsmAnd without coordinates',
      OSMAND,
      'id=A1&batt=1&charge=true&notificationToken=t',
      { battery: 0.01, attributes: { charging: true } },
    ],
    [
      'Traccar Client 9 without coordinates',
      '/api/v1/senders/traccar',
      { device_id: 'A1', location: { battery: { level: 0.5, is_charging: true } } },
      { battery: 0.5, attributes: { charging: true } },
    ],
    [
      'an action of Overland',
      '/api/v1/senders/overland',
      {
        locations: [{ properties: { device_id: 'A1', battery_level: 0.4, battery_state: 'full' } }],
      },
      { battery: 0.4, attributes: { charging: true } },
    ],
    [
      'a Traccar server without a position',
      FORWARD,
      { device: { uniqueId: 'A1' }, position: { attributes: { batteryLevel: 3 } } },
      { battery: 0.03 },
    ],
    [
      'a status of ChirpStack',
      CHIRPSTACK,
      { deviceInfo: { devEui: 'A1' }, batteryLevel: 80, margin: 10 },
      { battery: 0.8 },
    ],
    [
      'a point of PhoneTrack’s app without coordinates',
      '/log/ulogger/:key/A1',
      'action=auth&user=jane&pass=secret&bat=20',
      { battery: 0.2 },
    ],
  ])('of %s has its battery and attributes', async (_, path, sent, telemetry) => {
    const id = await send(path, sent)
    const [heartbeat, ...more] = await ingest.heartbeatsOf(id)
    expect(more).toEqual([])
    const { deviceId, battery, attributes } = heartbeat!
    expect({ deviceId, battery, attributes }).toEqual({ deviceId: 'A1', ...telemetry })
    expect(JSON.stringify(heartbeat)).not.toContain('secret')
    expect(await positionsOf(id)).toEqual([])
    expect(await rejectionsOf(ingest, id)).toMatchObject([
      { message: expect.stringContaining('without a position so far') },
    ])
  })
})

test('an uplink with stored LoRaWAN positions also causes a heartbeat if it has current telemetry', async () => {
  const history = [{ timestamp: '2026-11-25T16:00:00Z', ...PLACE }]
  for (const telemetry of [{}, { sos: true, batteryLevel: 50 }]) {
    const id = await send(TTS, uplink({ history, ...telemetry }))
    expect(await positionsOf(id)).toMatchObject([PLACE])
    const told = [{ battery: 0.5, attributes: { alarm: 'sos', sos: true } }]
    expect(await ingest.heartbeatsOf(id)).toMatchObject('sos' in telemetry ? told : [])
    expect(await rejectionsOf(ingest, id)).toEqual([])
  }
})

test('an alarm of Overland without a position is a heartbeat, whatever else is in its batch', async () => {
  const properties = { device_id: 'A1', timestamp: '2026-11-25T17:00:00Z' }
  const point = { geometry: { type: 'Point', coordinates: [10.1, 54.3] }, properties }
  const sos = { properties: { ...properties, alarm: 'sos' } }
  const other = { properties: { ...properties, action: 'x' } }
  const id = await send('/api/v1/senders/overland', { locations: [point, sos, other] })
  expect(await positionsOf(id)).toMatchObject([PLACE])
  expect(await ingest.heartbeatsOf(id)).toMatchObject([{ attributes: { alarm: 'sos' } }])
})

test('OwnTracks without coordinates is still rejected', async () => {
  const id = await send(OWNTRACKS, {
    _type: 'location',
    tst: 1_795_628_831,
    topic: 'owntracks/a/b',
  })
  expect(await rejectionsOf(ingest, id)).toHaveLength(1)
})
