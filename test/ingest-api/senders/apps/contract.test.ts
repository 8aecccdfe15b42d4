import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { pino } from 'pino'
import { T0 } from '../../../samples.ts'
import { startIngest, type IngestHarness } from '../../ingest-harness.ts'
import { rejectionsOf } from '../rejections-of.ts'

let ingest: IngestHarness
const logged: string[] = []

beforeAll(async () => {
  const logger = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) })
  ingest = await startIngest({ logger })
  const stolen = { accountId: 'acc-1', deviceId: 'stolen', changedAt: T0, disabled: true }
  await ingest.store.changeDeviceSettings(stolen)
})

afterAll(() => ingest.close())

const OSMAND = '/api/v1/senders/osmand'
const OWNTRACKS = '/api/v1/senders/owntracks'
const OVERLAND = '/api/v1/senders/overland'
/** One point a second, so that each is another record. */
let points = 0
const now = () => Math.floor(T0 / 1000) + (points += 1)

const query = (more = '') => `id=van&lat=54.3&lon=10.1&timestamp=${now()}${more}`
const location = (more: object = {}) =>
  JSON.stringify({ _type: 'location', tid: 'JJ', lat: 54.3, lon: 10.1, tst: now(), ...more })
const feature = (latitude: unknown = 54.3, device = 'van') => ({
  type: 'Feature',
  geometry: { type: 'Point', coordinates: [10.1, latitude] },
  properties: { device_id: device, timestamp: new Date(now() * 1000).toISOString() },
})
const batch = (...locations: unknown[]) => JSON.stringify({ locations })

const bearer = (secret: string) => ({ Authorization: `Bearer ${secret}` })
const post = (path: string, body: string | Uint8Array, headers: Record<string, string> = {}) =>
  ingest.request(path, { method: 'POST', body: body as NonNullable<RequestInit['body']>, headers })

/** The devices of a key's positions in the log. */
async function devicesOf(keyId: string): Promise<string[]> {
  const events = await ingest.logged()
  return events.filter((event) => event.keyId === keyId).map(({ deviceId }) => deviceId)
}

describe('the key is taken', () => {
  const basic = (user: string, secret: string) => ({
    Authorization: `Basic ${btoa(`${user}:${secret}`)}`,
  })
  test.each<[string, (key: string) => [path: string, headers: Record<string, string>]]>([
    ['from Bearer', (key) => [`${OSMAND}?${query()}`, bearer(key)]],
    ['from the password of Basic', (key) => [`${OSMAND}?${query()}`, basic('jane', key)]],
    ['from Basic without a user', (key) => [`${OSMAND}?${query()}`, basic('', key)]],
    ['from a literal Basic', (key) => [`${OSMAND}?${query()}`, { Authorization: `Basic ${key}:` }]],
    ['from the path', (key) => [`${OSMAND}/${key}?${query()}`, {}]],
    ['from the path of Traccar', (key) => [`/api/v1/senders/traccar/${key}?${query()}`, {}]],
    ['from the query’s key', (key) => [`/?key=${key}&${query()}`, {}]],
    [
      'from the query’s api_key',
      (key) => [`/api/v1/traccar/points?${query(`&api_key=${key}`)}`, {}],
    ],
    ['also percent-encoded', (key) => [`${OSMAND}/${key.replace('_', '%5F')}?${query()}`, {}]],
    [
      'beside a password that is none',
      (key) => [`${OSMAND}/${key}?${query()}`, basic('jane', 'secret')],
    ],
  ])('%s', async (_, given) => {
    const { id, secret } = await ingest.createKey()
    const [path, headers] = given(secret)
    expect((await ingest.request(path, { headers })).status).toBe(200)
    expect(await devicesOf(id)).toEqual(['van'])
  })

  test.each([
    ['osmand', OSMAND, 401],
    ['overland', OVERLAND, 401],
    ['the root', '/', 401],
    ['owntracks, which throws away what gets a 4xx', OWNTRACKS, 503],
    ['owntracks at its own path', '/pub', 503],
    ['owntracks at the path of Dawarich', '/api/v1/owntracks/points', 503],
  ])('and none, or a wrong one, is refused: %s', async (_, path, status) => {
    const { id, secret } = await ingest.createKey({ scopes: ['positions:read'] })
    const wrong = `${secret.slice(0, -1)}${secret.endsWith('0') ? '1' : '0'}`
    for (const headers of [{}, bearer(wrong), bearer(secret)]) {
      const answer = await post(path, location(), headers)
      expect(answer.status).toBe(status)
      if (status === 503) expect(answer.headers.get('retry-after')).toMatch(/^[123]$/)
    }
    const [refused] = await eventuallyRejected(id)
    expect(refused).toMatchObject({
      error: 'FORBIDDEN',
      message: expect.stringContaining('scope') as unknown,
    })
  })

  test('a body without one is read no further than 16 KiB', async () => {
    const large = await post(OVERLAND, batch('x'.repeat(20_000)))
    expect(large.headers.get('connection')).toBe('close')
    expect((await post(OVERLAND, batch('x'.repeat(10_000)))).headers.get('connection')).toBe(
      'keep-alive',
    )
  })
})

/** Rejections that nobody waits for are written in the background. */
async function eventuallyRejected(keyId: string) {
  await ingest.rejected(1)
  return rejectionsOf(ingest, keyId)
}

describe('the answer', () => {
  test.each<[string, string, () => string, number, string]>([
    ['OwnTracks', OWNTRACKS, () => location(), 200, '[]'],
    ['OwnTracks at its own path', '/pub', () => location(), 200, '[]'],
    ['Overland', OVERLAND, () => batch(feature()), 200, '{"result":"ok"}'],
    [
      'Dawarich’s Overland',
      '/api/v1/overland/batches',
      () => batch(feature()),
      201,
      '{"result":"ok"}',
    ],
    ['Dawarich’s OwnTracks', '/api/v1/owntracks/points', () => location(), 200, '[]'],
    ['Dawarich’s Traccar', '/api/v1/traccar/points', () => query(), 200, '[]'],
    ['OsmAnd', OSMAND, () => query(), 200, ''],
    ['Traccar', '/api/v1/senders/traccar', () => query(), 200, ''],
    ['the root', '/', () => query(), 200, ''],
  ])('to %s', async (_, path, body, status, text) => {
    const { id, secret } = await ingest.createKey()
    const answer = await fetch(ingest.url + path, {
      method: 'POST',
      body: body(),
      headers: bearer(secret),
    })
    expect([answer.status, await answer.text()]).toEqual([status, text])
    expect(answer.headers.get('x-request-id')).toMatch(/^[\w-]+$/)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(await devicesOf(id)).toHaveLength(1)
  })

  test('to Overland in its OwnTracks mode, whose time begins in 2001', async () => {
    const { id, secret } = await ingest.createKey()
    const headers = { Authorization: `Basic ${secret}:` }
    const answer = await post(OWNTRACKS, location({ tst: T0 / 1000 - 978_307_200 }), headers)
    expect(answer.body).toEqual({ result: 'ok' })
    const [event] = (await ingest.logged()).filter(({ keyId }) => keyId === id)
    expect(event?.timestamp).toBe(T0)
  })

  test.each([
    OWNTRACKS,
    '/pub',
    '/api/v1/owntracks/points',
    OVERLAND,
    '/api/v1/overland/batches',
    OSMAND,
    `${OSMAND}/k`,
    '/api/v1/senders/traccar',
    '/api/v1/traccar/points',
    '/',
    '/api/v1/senders/traccar-forward',
  ])('to HEAD is 200 without a key: %s', async (path) => {
    const answer = await fetch(ingest.url + path, { method: 'HEAD' })
    expect(answer.status).toBe(200)
  })

  test('of the root without a position names the service', async () => {
    expect((await ingest.request('/?key=x')).body).toMatchObject({
      data: { service: 'gps-ingest-api' },
    })
    for (const field of ['id', 'deviceid', 'lat', 'location']) {
      expect((await ingest.request(`/?${field}=1`)).status).toBe(401)
    }
  })

  test('does not ask for a slash less', async () => {
    const { id, secret } = await ingest.createKey()
    const url = `${ingest.url}/api/v1/senders/traccar/${secret}/?${query()}`
    expect((await fetch(url)).status).toBe(200)
    expect(await devicesOf(id)).toEqual(['van'])
  })

  test('to another method names those that are taken', async () => {
    const answer = await ingest.request(OVERLAND, { method: 'PUT' })
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST'])
  })
})

describe('what can never be accepted gets a 2xx, and operators are told', () => {
  const far = Math.floor(T0 / 1000) + 2 * 24 * 3600
  test.each<[string, string, () => string | Uint8Array, string]>([
    [
      'a latitude',
      OSMAND,
      () => `id=van&lat=95&lon=10&timestamp=${now()}`,
      'latitude "95" is not between -90 and 90',
    ],
    [
      'a number that is none',
      OSMAND,
      () => `id=van&lat=invalid&lon=10`,
      'latitude "invalid" is not a number',
    ],
    ['half a place', OSMAND, () => `id=van&lat=10`, 'longitude is missing'],
    [
      'before 2000',
      OSMAND,
      () => 'id=van&lat=1&lon=2&timestamp=456',
      'timestamp "456" is before 2000',
    ],
    [
      'tomorrow',
      OWNTRACKS,
      () => location({ tst: far }),
      `timestamp ${far} is more than 24 hours in the future`,
    ],
    [
      'no time',
      OWNTRACKS,
      () => location({ tst: undefined, created_at: far }),
      'timestamp is missing',
    ],
    [
      'another time',
      OVERLAND,
      () => batch({ ...feature(), properties: { timestamp: 'noon' } }),
      'timestamp "noon" is not a time',
    ],
    [
      'a device id',
      OSMAND,
      () => `id=${'x'.repeat(129)}&lat=1&lon=2`,
      'deviceId must have 1 to 128 characters',
    ],
    [
      'bytes that are no UTF-8 in a form',
      OSMAND,
      () => 'id=%ff&lat=1&lon=2',
      'deviceId must be well-formed Unicode, without lone surrogates',
    ],
    [
      'bytes that are no UTF-8',
      OWNTRACKS,
      () => Uint8Array.of(0x7b, 0xff, 0x7d),
      'the body must be UTF-8',
    ],
    ['half a JSON', OWNTRACKS, () => '{"_type"', 'the body must be well-formed JSON'],
    ['no object', OWNTRACKS, () => '[1]', 'the body must be a JSON object'],
    [
      'something encrypted',
      OWNTRACKS,
      () => '{"_type":"encrypted","data":"c2VjcmV0"}',
      'the payload is encrypted: switch encryption off in the app',
    ],
    ['no batch', OVERLAND, () => '{}', 'the body must be {"locations":[…]}'],
    [
      'features that are none',
      OVERLAND,
      () => batch(1, { geometry: 2 }),
      '2 of the locations are no GeoJSON points',
    ],
    [
      'too much',
      OSMAND,
      () => `id=van&note=${'x'.repeat(17_000)}`,
      'the body must not be larger than 16384 bytes',
    ],
    [
      'a disabled device',
      OSMAND,
      () => query().replace('van', 'stolen'),
      'this device is disabled',
    ],
  ])('%s', async (_, path, body, message) => {
    const { id, secret } = await ingest.createKey()
    expect((await post(path, body(), bearer(secret))).status).toBe(200)
    // Nothing is flushed: it was durable before the answer.
    expect((await rejectionsOf(ingest, id)).map((told) => told.message)).toEqual([message])
    expect(await devicesOf(id)).toEqual([])
  })

  test('a coding that nobody knows, and one that is damaged', async () => {
    const { id, secret } = await ingest.createKey()
    const packed = gzipSync(location())
    for (const [coding, bytes] of [
      ['zstd', packed],
      ['gzip', packed.subarray(0, 20)],
    ] as const) {
      const headers = { ...bearer(secret), 'Content-Encoding': coding }
      expect((await post(OWNTRACKS, bytes, headers)).status).toBe(200)
    }
    expect(await rejectionsOf(ingest, id)).toHaveLength(2)
    expect(
      (await post(OWNTRACKS, packed, { ...bearer(secret), 'Content-Encoding': 'gzip' })).status,
    ).toBe(200)
    expect(await devicesOf(id)).toEqual(['JJ'])
  })

  test('many in a second are counted, durably', async () => {
    const { id, secret } = await ingest.createKey()
    ingest.clock.time += 1_000
    const bad = Array.from({ length: 50 }, () => feature(95))
    expect((await post(OVERLAND, batch(...bad, feature()), bearer(secret))).status).toBe(200)
    const counts = (await rejectionsOf(ingest, id)).map(({ count }) => count)
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(50)
    expect(counts.length).toBeLessThanOrEqual(22)
    expect(await devicesOf(id)).toEqual(['van'])
    ingest.clock.time += 1_000
  })

  test('503 if the rejection cannot be written', async () => {
    const away = await startIngest({
      wrapRejections: () => ({ appendRejections: () => Promise.reject(new Error('away')) }),
    })
    const { secret } = await away.createKey()
    const answer = await away.request(`${OSMAND}/${secret}?id=van&lat=95&lon=10`)
    expect(answer.status).toBe(503)
    expect(answer.headers.get('retry-after')).toMatch(/^[123]$/)
    expect((await away.request(`${OSMAND}/${secret}?${query()}`)).status).toBe(200)
    await away.close()
  })
})

describe('nothing of a key in a URL is seen again', () => {
  test('in logs, metrics, rejections or answers', async () => {
    const { id, secret } = await ingest.createKey()
    const encoded = `gps%5f${secret.slice(4)}`
    const paths = [
      `${OSMAND}/${secret}?id=van&lat=95&lon=10&note=${secret}`,
      `${OSMAND}/${encoded}?id=van&lat=95&lon=10&key=${encoded}`,
      `/?id=${secret}&lat=95&lon=10&api_key=${secret}`,
      `/?lat=${secret}&lon=10&key=${secret}`,
      `/log/osmand/${encoded}/van?lat=95&lon=10`,
      `/log/osmand/${secret}/${secret}?lat=1&lon=10`,
      `/nowhere/${secret}?key=${secret}`,
      `/${encoded}`,
      `${OVERLAND}/${secret}`,
      `${OSMAND}/${secret}x?id=van`,
    ]
    const answers = []
    for (const path of paths) answers.push(await ingest.request(path))
    expect(answers.map(({ status }) => status)).toEqual([
      ...Array<number>(6).fill(200),
      ...Array<number>(3).fill(404),
      401,
    ])
    const rejections = await rejectionsOf(ingest, id)
    expect(rejections).toHaveLength(6)
    const { text } = (await ingest.request('/metrics')).body as { text: string }
    const seen = JSON.stringify([logged, rejections, answers.map(({ body }) => body), text])
    const told = answers.map(({ headers }) => [...headers].flat().join())
    for (const secretly of [secret, secret.slice(4), encoded]) {
      expect(seen).not.toContain(secretly)
      expect(told.join()).not.toContain(secretly)
    }
    expect(logged.length).toBeGreaterThan(10)
  })
})

describe('a request without a position says that the device lives', () => {
  test.each<[string, string, () => string]>([
    [
      'OwnTracks’ last will',
      OWNTRACKS,
      () => '{"_type":"lwt","tst":1,"topic":"owntracks/jane/phone/status"}',
    ],
    [
      'OwnTracks’ transition',
      OWNTRACKS,
      () => location({ _type: 'transition', topic: 'owntracks/jane/phone/event' }),
    ],
    ['OsmAnd without coordinates', OSMAND, () => 'id=jane/phone&batt=5'],
    ['a push token', OSMAND, () => 'id=jane/phone&notificationToken=abc'],
    [
      'an action of Overland',
      OVERLAND,
      () =>
        batch(
          { properties: { device_id: 'jane/phone', action: 'x' } },
          { properties: { device_id: 'jane/phone' } },
        ),
    ],
  ])('%s', async (_, path, body) => {
    const { id, secret } = await ingest.createKey()
    expect((await post(path, body(), bearer(secret))).status).toBe(200)
    expect(await heartbeatsOf(id)).toEqual(['jane/phone'])
    expect(await devicesOf(id)).toEqual([])
    expect(await rejectionsOf(ingest, id)).toEqual([])
  })

  test('but not beside a position, and of no device that only the key names and may not', async () => {
    const { id, secret } = await ingest.createKey({ deviceIds: ['van', 'tug'] })
    const action = { properties: { device_id: 'van', action: 'x' } }
    expect((await post(OVERLAND, batch(feature(), action), bearer(secret))).status).toBe(200)
    expect((await post(OWNTRACKS, '{"_type":"cmd"}', bearer(secret))).status).toBe(200)
    expect(await heartbeatsOf(id)).toEqual([])
    expect(await devicesOf(id)).toEqual(['van'])
  })
})

/** The devices of a key's heartbeats in the log. */
async function heartbeatsOf(keyId: string): Promise<string[]> {
  const { events } = await ingest.eventLog.lag('nobody')
  const found: string[] = []
  const reading = new AbortController()
  let read = 0
  for await (const item of ingest.eventLog.tail({ after: {}, signal: reading.signal })) {
    if (item.kind !== 'batch') continue
    for (const entry of item.entries) {
      if (entry.kind === 'seen' && entry.event.keyId === keyId) found.push(entry.event.deviceId)
    }
    read += item.entries.length
    if (read >= events) reading.abort()
  }
  return found
}
