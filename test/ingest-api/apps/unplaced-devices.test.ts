import { afterEach, expect, test } from '@jest/globals'
import { DependencyError } from '../../../runtime/errors.ts'
import { batchOf, LogOfOneSuite } from '../../contracts/store-samples.ts'
import { positionReported, T0 } from '../../samples.ts'
import { ingestForAllTests, startIngest, type IngestHarness } from '../ingest-harness.ts'
import { batch, bearer, feature, OSMAND, OVERLAND, post } from './app-requests.ts'
import { rejectionsOf } from './rejections-of.ts'

const MINUTE = 60_000
const NEW = 'osmand: a device without a position so far has sent a message without one'

let ingest: IngestHarness
let key: { id: string; secret: string }

async function start(options?: Parameters<typeof startIngest>[0]) {
  ingest = await startIngest(options)
  running.push(ingest)
  key = await ingest.createKey()
}

const running: IngestHarness[] = []
afterEach(() => Promise.all(running.splice(0).map((one) => one.close())))

async function osmand(query: string) {
  expect((await post(ingest, OSMAND, query, bearer(key.secret))).status).toBe(200)
}

async function messages() {
  return (await rejectionsOf(ingest, key.id)).map(({ message }) => message)
}

async function heartbeats(): Promise<number> {
  const { events } = await ingest.eventLog.lag('nobody')
  return events - (await ingest.logged()).length
}

test('heartbeats of a device without any position cause one rejection an hour, and one immediately for each new alarm', async () => {
  await start()
  await osmand('id=van&batt=5')
  await osmand('id=van&batt=4')
  await osmand('id=tug&batt=4')
  expect(await messages()).toEqual([NEW, NEW])
  await osmand('id=van&alarm=none')
  await osmand('id=van&alarm=sos,lowBattery')
  await osmand('id=van&alarm=SOS')
  await osmand('id=van&alarm=powerCut,sos')
  ingest.clock.time = T0 + 59 * MINUTE
  await osmand('id=van&batt=3')
  const alarms = [`${NEW}, with the alarm sos, lowBattery`, `${NEW}, with the alarm powerCut`]
  expect(await messages()).toEqual([NEW, NEW, ...alarms])
  ingest.clock.time = T0 + 61 * MINUTE
  await osmand('id=van&alarm=sos')
  expect(await messages()).toEqual([NEW, NEW, ...alarms, `${NEW}, with the alarm sos`])
  // They remain heartbeats.
  expect(await heartbeats()).toBe(9)
})

test('a heartbeat’s rejection does not count as a second report in the metrics, and shows what the device sent', async () => {
  await start()
  await osmand('id=van&batt=50&ignition=true')
  const [rejection] = await rejectionsOf(ingest, key.id)
  expect(rejection).toMatchObject({ deviceId: 'van', error: 'INVALID_PARAMS' })
  expect(JSON.parse(rejection?.body ?? '')).toEqual({
    deviceId: 'van',
    battery: 0.5,
    attributes: { ignition: true },
  })
  const { values } = await ingest.metrics.reports.get()
  const counted = values.filter(({ value }) => value > 0)
  expect(counted.map(({ labels }) => labels.outcome)).toEqual(['seen'])
})

const TIME = '2026-01-01T00:00:00Z'
const uplink = { decoded_payload: { Latitude: 0, Longitud: 0, ALARM_status: 'TRUE' } }
const zeros = { latitude: 0, longitude: 0, fixTime: '1970-01-01T00:00:00Z', valid: false }
const noFix = { ...zeros, attributes: { alarm: 'sos' } }
const VOID = 'gprmc=$GPRMC,100000.00,V,0130.0000,S,00215.0000,W,,,010126,,*00'

let shared: IngestHarness
ingestForAllTests((given) => ({ ingest: shared } = given))

test.each<[string, string, object | string]>([
  ['osmand', '/api/v1/senders/osmand/:key', 'id=van&alarm=sos'],
  ['osmand', '/api/v1/senders/osmand/:key', 'id=van&lat=0&lon=0&valid=0&alarm=sos'],
  ['dawarich-traccar', '/api/v1/traccar/points', 'id=van&lat=0&lon=0&sat=0&alarm=sos'],
  [
    'osmand',
    '/api/v1/senders/traccar',
    { device_id: 'van', location: { timestamp: TIME, extras: { alarm: 'sos' } } },
  ],
  [
    'traccar-forward',
    '/api/v1/senders/traccar-forward',
    { device: { uniqueId: 'van' }, position: noFix },
  ],
  [
    'traccar-forward',
    '/api/v1/senders/traccar-forward',
    { device: { uniqueId: 'van' }, position: { attributes: { alarm: 'sos' } } },
  ],
  ['owntracks', '/api/v1/senders/owntracks', { _type: 'location', topic: 'o/a/van', alarm: 'sos' }],
  ['owntracks', '/api/v1/senders/owntracks', { topic: 'o/a/van', alarm: 'sos' }],
  [
    'dawarich-owntracks',
    '/api/v1/owntracks/points',
    { _type: 'location', tid: 'van', lat: 0, lon: 0, tst: T0 / 1000, sat: 0, alarm: 'sos' },
  ],
  [
    'overland',
    '/api/v1/senders/overland',
    { locations: [{ properties: { device_id: 'van', alarm: 'sos' } }] },
  ],
  [
    'the-things-stack',
    '/api/v1/senders/the-things-stack',
    { end_device_ids: { dev_eui: 'van' }, uplink_message: uplink },
  ],
  [
    'chirpstack',
    '/api/v1/senders/chirpstack',
    { deviceInfo: { devEui: 'van' }, time: TIME, object: { temp: 1, panic: true } },
  ],
  ['phonetrack', '/log/gpslogger/:key/van', 'alarm=sos'],
  ['phonetrack', '/log/opengts/:key/van', `${VOID}&alarm=sos`],
  ['phonetrack', '/log/opengts/:key/van', 'alarm=sos'],
])(
  'an SOS without a fix of a new device causes a rejection that names it: %s %s %#',
  async (app, path, sent) => {
    const { id, secret } = await shared.createKeyOfNewAccount()
    const isQuery = typeof sent === 'string'
    const url = path.replace(':key', secret) + (isQuery ? `?${sent}` : '')
    const body = isQuery ? null : JSON.stringify(sent)
    const answer = await shared.request(url, {
      method: isQuery ? 'GET' : 'POST',
      body,
      headers: { ...bearer(secret), 'Content-Type': 'application/json' },
    })
    expect(Math.floor(answer.status / 100)).toBe(2)
    const logged = await shared.logged()
    expect(logged.filter(({ keyId }) => keyId === id)).toEqual([])
    const rejected = await rejectionsOf(shared, id)
    expect(rejected.map(({ message }) => message)).toEqual([
      expect.stringMatching(new RegExp(`^${app}: .* without a position.*, with the alarm sos$`)),
    ])
    expect(await shared.heartbeatsOf(id)).toHaveLength(1)
  },
)

test('a device with a position in the same request, or in the last minute, causes no rejection', async () => {
  await start()
  const action = { properties: { device_id: 'van', action: 'x' } }
  const sent = await post(ingest, OVERLAND, batch(feature(), action), bearer(key.secret))
  expect(sent.status).toBe(200)
  const report = { deviceId: 'tug', latitude: 1, longitude: 2 }
  expect((await ingest.submit(report, { key: key.secret })).status).toBe(200)
  ingest.clock.time = T0 + MINUTE
  await osmand('id=tug&alarm=sos')
  expect(await messages()).toEqual([])
  // The store still lacks the position: something is wrong.
  ingest.clock.time = T0 + MINUTE + 1
  await osmand('id=tug&alarm=sos')
  expect(await messages()).toEqual([`${NEW}, with the alarm sos`])
})

test('a device with a stored position causes no rejection', async () => {
  await start()
  const van = positionReported({ accountId: 'acc-1', deviceId: 'van' })
  await ingest.store.project(batchOf(new LogOfOneSuite().append(van)))
  await osmand('id=van&alarm=sos')
  expect(await messages()).toEqual([])
})

test('while the store does not respond, a heartbeat with an alarm is stored, and causes a rejection', async () => {
  const findDevice = () => Promise.reject(new DependencyError('away', { retriable: true }))
  await start({ wrapDevices: () => ({ findDevice }) })
  await osmand('id=van&batt=5')
  expect(await messages()).toEqual([])
  await osmand('id=van&alarm=sos')
  await osmand('id=van&alarm=sos')
  expect(await messages()).toEqual([`${NEW}, with the alarm sos`])
  expect(await heartbeats()).toBe(3)
})

test('a rejection that failed to be written is written with the next heartbeat', async () => {
  let isAway = true
  await start({
    wrapRejections: (topic) => ({
      async append(events) {
        if (isAway) throw new DependencyError('away', { retriable: true })
        await topic.append(events)
      },
    }),
  })
  const sent = await post(ingest, OSMAND, 'id=van&alarm=sos', bearer(key.secret))
  expect(sent.status).toBe(503)
  isAway = false
  await osmand('id=van&alarm=sos')
  expect(await messages()).toEqual([`${NEW}, with the alarm sos`])
})
