import { beforeAll, expect, test } from '@jest/globals'
import { recordIdFor } from '../../../schemas/events/record-id.ts'
import { T0 } from '../../samples.ts'
import { ingestForAllTests, type IngestHarness } from '../ingest-harness.ts'
import { bearer } from '../apps/app-requests.ts'

let ingest: IngestHarness
ingestForAllTests((given) => ({ ingest } = given))

beforeAll(() => {
  ingest.clock.time = Date.UTC(2026, 10, 28, 12)
})

const TIME = '2026-11-28T10:00:00Z'
const PLACE = { latitude: 50.1, longitude: 14.4 }
const SENT = {
  charging: 'OFF',
  fuel: '12.0',
  ignition: 'true',
  rpm: '800',
  satellites: '9',
  motion: 1,
  status: '0400',
  temperature: '-21.50',
}
const TYPED = {
  charging: false,
  fuel: 12,
  ignition: true,
  rpm: 800,
  satellites: 9,
  motion: true,
  status: '0400',
  temperature: -21.5,
}
const report = { deviceId: 'van', ...PLACE, timestamp: TIME, attributes: SENT }

async function attributesOf(path: string, body: object) {
  const scopes = ['positions:write', 'positions:import'] as const
  const { id, secret } = await ingest.createKey({ scopes })
  const answer = await ingest.request(path, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { ...bearer(secret), 'Content-Type': 'application/json' },
  })
  expect(answer.status).toBe(200)
  const [position] = (await ingest.logged()).filter(({ keyId }) => keyId === id)
  return position?.attributes
}

const uplink = (payload: object) => ({
  end_device_ids: { dev_eui: 'A1' },
  uplink_message: { received_at: TIME, decoded_payload: { ...PLACE, ...payload } },
})

test.each<[string, string, object]>([
  ['a report', '/api/v1/gps/submit', report],
  ['a report of a batch', '/api/v1/gps/batch', { reports: [report] }],
  ['an imported report', '/api/v1/gps/import', { reports: [report] }],
  [
    'a Traccar server',
    '/api/v1/senders/traccar-forward',
    {
      device: { uniqueId: 'van' },
      position: {
        ...PLACE,
        fixTime: TIME,
        attributes: { ...SENT, satellites: undefined, sat: '9' },
      },
    },
  ],
  [
    'Traccar Client 9',
    '/api/v1/senders/traccar',
    { device_id: 'van', location: { timestamp: TIME, coords: PLACE, extras: SENT } },
  ],
  ['The Things Stack', '/api/v1/senders/the-things-stack', uplink(SENT)],
  [
    'ChirpStack',
    '/api/v1/senders/chirpstack',
    { deviceInfo: { devEui: 'A1' }, time: TIME, object: { ...PLACE, ...SENT } },
  ],
])('the known attributes of %s have their types', async (_, path, body) => {
  expect(await attributesOf(path, body)).toEqual(TYPED)
})

test('the known attributes of a query have their types, and decimals under other names are numbers', async () => {
  const { id, secret } = await ingest.createKey()
  const texts =
    'id=van&lat=1&lon=2&temp1=-10.0&temp2=-18.5&fuel=12.0&job=00123&imsi=26201123456789012'
  await ingest.request(`/api/v1/senders/osmand/${secret}?${texts}`)
  const [position] = (await ingest.logged()).filter(({ keyId }) => keyId === id)
  const typed = { fuel: 12, imsi: '26201123456789012', job: '00123', temp1: -10, temp2: -18.5 }
  expect(position?.attributes).toEqual(typed)
})

test('a heartbeat’s known attributes have their types', async () => {
  const { id, secret } = await ingest.createKey()
  const position = { attributes: { fuel: '12.0', status: '0400' } }
  await ingest.request('/api/v1/senders/traccar-forward', {
    method: 'POST',
    body: JSON.stringify({ device: { uniqueId: 'van' }, position }),
    headers: bearer(secret),
  })
  expect(await ingest.heartbeatsOf(id)).toMatchObject([
    { attributes: { fuel: 12, status: '0400' } },
  ])
})

test('a report’s recordId is derived from its attributes as sent', async () => {
  const { secret: key } = await ingest.createKey()
  const sent = { ...report, timestamp: new Date(T0).toISOString(), attributes: { fuel: '12.0' } }
  const { body } = await ingest.submit(sent, { key })
  const context = { accountId: 'acc-1', idempotencyKey: undefined, receivedAt: 0 }
  const recordId = recordIdFor({ ...sent, timestamp: T0 }, context)
  expect(body).toMatchObject({ data: { recordId } })
  const asNumber = await ingest.submit({ ...sent, attributes: { fuel: 12 } }, { key })
  expect(asNumber.body).not.toMatchObject({ data: { recordId } })
})
