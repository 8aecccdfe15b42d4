import { gzipSync } from 'node:zlib'
import { beforeAll, expect, test } from '@jest/globals'
import { DependencyError } from '../../runtime/errors.ts'
import { newApiKey } from '../../schemas/access/api-key.ts'
import { startIngest, type IngestHarness } from './ingest-harness.ts'
import { closeAfterwards } from '../closing.ts'

const SUBMIT = '/api/v1/gps/submit'
const PLACE = { deviceId: 'van', latitude: 1, longitude: 2 }
const A_KEY = newApiKey()
const names = (count: number, value: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`a${n}`, value]))

type Sent = {
  readonly path?: string
  readonly method?: string
  readonly body?: NonNullable<RequestInit['body']>
  readonly key?: 'none' | 'unknown' | 'of readers' | 'of one device'
  readonly headers?: Readonly<Record<string, string>>
}

/** The messages for senders, each with a request that gets it. */
const REFUSALS: readonly (readonly [message: string, sent: Sent])[] = [
  ['there is nothing at this path: see the documentation', { path: '/api/v1/nothing' }],
  ['this path takes POST', { method: 'PUT' }],
  ['send a valid API key in the header Authorization: Bearer <API_KEY>', { key: 'none' }],
  ['send a valid API key in the header Authorization: Bearer <API_KEY>', { key: 'unknown' }],
  [
    'send a valid API key: as Bearer, as the password of Basic, or in the URL where this path has it',
    { path: '/api/v1/senders/osmand?id=x&lat=1&lon=1', key: 'none' },
  ],
  ['this API key lacks the scope positions:write', { key: 'of readers' }],
  ['this API key lacks the scope positions:import', { path: '/api/v1/gps/import' }],
  ['this API key may not report for this deviceId', { key: 'of one device' }],
  [
    'send the body as Content-Type: application/json',
    { headers: { 'Content-Type': 'text/plain' } },
  ],
  [
    'send the body with one Content-Encoding, gzip, deflate or br, or without one',
    { headers: { 'Content-Encoding': 'zstd' } },
  ],
  ['the compressed body is damaged or not gzip', { headers: { 'Content-Encoding': 'gzip' } }],
  [
    'the compressed body continues after its end',
    {
      headers: { 'Content-Encoding': 'gzip' },
      body: Buffer.concat([gzipSync('{}'), Buffer.alloc(2)]),
    },
  ],
  ['the body must not be larger than 16384 bytes', { body: ' '.repeat(16_385) }],
  [
    'the body must not be larger than 1048576 bytes',
    { path: '/api/v1/gps/batch', body: ' '.repeat(1_048_577) },
  ],
  ['the body is empty: send a JSON object', { body: '' }],
  ['the body must be well-formed JSON', { body: '{' }],
  ['the body must be UTF-8', { body: Buffer.from([0x7b, 0xff]) }],
  ['the body must be a JSON object', { body: '[]' }],
  [
    'Idempotency-Key must be 1 to 255 visible ASCII characters',
    { headers: { 'Idempotency-Key': 'a b' } },
  ],
  [
    'the body must be {"reports":[…]} with 1 to 1000 position reports',
    { path: '/api/v1/gps/batch', body: '{}' },
  ],
]

/** The messages about a field, each with the field that has the fault. */
const FAULTS: readonly (readonly [message: string, fields: object])[] = [
  ['deviceId must be a string', { deviceId: 7 }],
  ['deviceId is required: the unique identifier of the device', { deviceId: null }],
  ['deviceId must have 1 to 128 characters', { deviceId: 'x'.repeat(129) }],
  ['deviceId must not start or end with white space', { deviceId: ' x' }],
  ['deviceId must not contain control characters', { deviceId: 'x\n' }],
  ['deviceId must not be "." or ".."', { deviceId: '..' }],
  ['deviceId must be well-formed Unicode, without lone surrogates', { deviceId: '\ud800' }],
  [
    'deviceId must not be or contain an API key: send that in the header Authorization only',
    { deviceId: A_KEY },
  ],
  ['latitude is required: a number from -90 to 90 (WGS84 degrees)', { latitude: null }],
  ['latitude must be a number from -90 to 90 (WGS84 degrees)', { latitude: 91 }],
  ['longitude must be a number from -180 to 180 (WGS84 degrees)', { longitude: '2' }],
  [
    'timestamp must be an ISO 8601 date and time, for example 2026-01-31T12:30:00Z',
    { timestamp: 5 },
  ],
  ['timestamp must not be before 2000-01-01T00:00:00Z', { timestamp: '1999-01-01T00:00:00Z' }],
  ['timestamp must not be more than 24 hours in the future', { timestamp: '2099-01-01T00:00:00Z' }],
  ['accuracy must be a number of metres, 0 or more', { accuracy: -1 }],
  ['altitude must be a number of metres from -12000 to 100000', { altitude: 1e6 }],
  [
    'speed must be a number of metres per second, 0 or more; leave the field out when it is unknown',
    { speed: -1 },
  ],
  [
    'heading must be a number of degrees from 0 to 360; leave the field out when it is unknown',
    { heading: 361 },
  ],
  ['battery must be a fraction from 0 to 1', { battery: 2 }],
  ['attributes must be a JSON object', { attributes: [] }],
  ['attributes must have at most 32 names', { attributes: names(33, 1) }],
  ['attributes must have at most 2048 bytes as JSON', { attributes: names(20, 'x'.repeat(200)) }],
  [
    'attributes.1 must have a name of at most 64 letters, digits, _, . and -, a letter first, and no API key',
    { attributes: { '1': 1 } },
  ],
  ['attributes.a must be a number, true, false or a text', { attributes: { a: {} } }],
  ['attributes.a must have at most 256 characters', { attributes: { a: 'x'.repeat(257) } }],
  ['attributes.a must not contain control characters', { attributes: { a: '\n' } }],
  [
    'attributes.a must be well-formed Unicode, without lone surrogates',
    { attributes: { a: '\ud800' } },
  ],
  [
    'attributes.a must not be or contain an API key: send that in the header Authorization only',
    { attributes: { a: A_KEY } },
  ],
]

/** The messages in the rejections of apps, which get 200. */
const REJECTED: readonly (readonly [message: string, path: string, body: string])[] = [
  ['location must be a JSON object', '/api/v1/senders/traccar', '{"location":7,"device_id":"x"}'],
  ['the body must be {"locations":[…]}', '/api/v1/senders/overland', '{}'],
  ['points must be a list of lists', '/log/multiple/KEY/van', '{"points":7}'],
  [
    '1 of the points are not lists that start with latitude and longitude',
    '/log/multiple/KEY/van',
    '{"points":[7]}',
  ],
]

let ingest: IngestHarness
const keys: Record<string, string> = { unknown: newApiKey() }

beforeAll(async () => {
  ingest = await startIngest()
  closeAfterwards(() => ingest.close())
  keys['usual'] = (await ingest.createKey()).secret
  keys['of readers'] = (await ingest.createKey({ scopes: ['positions:read'] })).secret
  keys['of one device'] = (await ingest.createKey({ deviceIds: ['tug'] })).secret
})

test.each(REFUSALS)('a sender gets the message: %s', async (message, sent) => {
  const { path = SUBMIT, method = 'POST', body = JSON.stringify(PLACE), key = 'usual' } = sent
  const answer = await ingest.request(path, {
    method,
    body,
    headers: {
      'Content-Type': 'application/json',
      ...(key !== 'none' && { Authorization: `Bearer ${keys[key] ?? ''}` }),
      ...sent.headers,
    },
  })
  expect(answer.body).toMatchObject({ success: false, message })
})

test.each(FAULTS)('a faulty field gets the message: %s', async (message, fields) => {
  const answer = await ingest.submit({ ...PLACE, ...fields }, { key: keys['usual'] ?? '' })
  expect(answer.body).toMatchObject({ code: 400, message })
})

test.each(REJECTED)('the rejection of an app’s request says: %s', async (message, path, body) => {
  const key = keys['usual'] ?? ''
  const answer = await ingest.request(path.replace('KEY', key), {
    method: 'POST',
    body,
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` },
  })
  expect(answer.status).toBe(200)
  const rejections = await ingest.rejected(1)
  expect(rejections.map((one) => one.message)).toContain(message)
})

test('after too many requests without a valid key the message says when to retry', async () => {
  const limited = await startIngest({ rateLimits: { auth: { points: 1, seconds: 60 } } })
  closeAfterwards(() => limited.close())
  const send = () => limited.submit(PLACE, { key: newApiKey() })
  await send()
  expect((await send()).body).toMatchObject({
    error: 'RATE_LIMITED',
    message: 'too many requests without a valid API key came from this address: try again in 60 s',
  })
})

test('a key that cannot be checked gets a 503, never a 401', async () => {
  const away = await startIngest({
    wrapKeys: () => ({
      findGrant: () => Promise.reject(new DependencyError('away', { retriable: true })),
    }),
  })
  closeAfterwards(() => away.close())
  expect((await away.submit(PLACE, { key: newApiKey() })).body).toMatchObject({
    error: 'SERVICE_UNAVAILABLE',
    message: 'the API key cannot be checked right now, please send it again',
  })
})
