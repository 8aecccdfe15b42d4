import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, jest, test } from '@jest/globals'
import { T0 } from '../../samples.ts'
import {
  ingestForAllTests,
  startIngest,
  type Answer,
  type IngestHarness,
} from '../ingest-harness.ts'
import { stopTime } from '../stopped-time.ts'
import { rejectionsOf } from '../apps/rejections-of.ts'
import {
  batch,
  bearer,
  devicesOf,
  feature,
  location,
  now,
  OSMAND,
  OVERLAND,
  OWNTRACKS,
  post,
  query,
} from '../apps/app-requests.ts'

/** The shortest possible feature of Overland. */
const small = () => ({
  geometry: { coordinates: [10.1, 54.3] },
  properties: { device_id: 'van', timestamp: now() },
})

/** Sends a request that a busy machine may take longer for than a request may wait. */
async function unhurried(send: () => Promise<Answer>): Promise<Answer> {
  const timeGoesOn = stopTime()
  try {
    return await send()
  } finally {
    jest.runOnlyPendingTimers()
    timeGoesOn()
  }
}

let ingest: IngestHarness
ingestForAllTests((given) => ({ ingest } = given))

beforeAll(async () => {
  const stolen = { accountId: 'acc-1', deviceId: 'stolen', changedAt: T0, disabled: true }
  await ingest.store.changeDeviceSettings(stolen)
})

describe('data that can never be accepted', () => {
  const far = Math.floor(T0 / 1000) + 2 * 24 * 3600
  test.each<[string, string, () => string | Uint8Array]>([
    [
      'latitude "95" is not between -90 and 90',
      OSMAND,
      () => `id=van&lat=95&lon=10&timestamp=${now()}`,
    ],
    ['latitude "invalid" is not a number', OSMAND, () => `id=van&lat=invalid&lon=10`],
    ['longitude is missing', OSMAND, () => `id=van&lat=10`],
    ['timestamp "456" is before 2000', OSMAND, () => 'id=van&lat=1&lon=2&timestamp=456'],
    [
      `timestamp ${far} is more than 24 hours in the future`,
      OWNTRACKS,
      () => location({ tst: far }),
    ],
    ['timestamp is missing', OWNTRACKS, () => location({ tst: undefined, created_at: far })],
    [
      'timestamp "noon" is not a time',
      OVERLAND,
      () => batch({ ...feature(), properties: { timestamp: 'noon' } }),
    ],
    ['deviceId must have 1 to 128 characters', OSMAND, () => `id=${'x'.repeat(129)}&lat=1&lon=2`],
    [
      'deviceId must be well-formed Unicode, without lone surrogates',
      OSMAND,
      () => 'id=%ff&lat=1&lon=2',
    ],
    ['the body must be UTF-8', OWNTRACKS, () => Uint8Array.of(0x7b, 0xff, 0x7d)],
    ['the body must be well-formed JSON', OWNTRACKS, () => '{"_type"'],
    ['the body must be a JSON object', OWNTRACKS, () => '[1]'],
    [
      'the payload is encrypted: switch encryption off in the app',
      OWNTRACKS,
      () => '{"_type":"encrypted","data":"c2VjcmV0"}',
    ],
    ['the body must be {"locations":[…]}', OVERLAND, () => '{}'],
    ['2 of the locations are not GeoJSON points', OVERLAND, () => batch(1, { geometry: 2 })],
    [
      'the body must not be larger than 16384 bytes',
      OSMAND,
      () => `id=van&note=${'x'.repeat(17_000)}`,
    ],
    [
      'the body has too many parts',
      OWNTRACKS,
      () => location(Object.fromEntries(Array.from({ length: 250_000 }, (_, n) => [`k${n}`, 1]))),
    ],
    [
      'the body has too many parts',
      OVERLAND,
      () => `{"locations":${'['.repeat(600_000)}${']'.repeat(600_000)}}`,
    ],
    ['this device is disabled', OSMAND, () => query().replace('van', 'stolen')],
  ])(
    'data that can never be accepted gets a 2xx and a rejection: %s',
    async (message, path, body) => {
      const { id, secret } = await ingest.createKey()
      expect((await post(ingest, path, body(), bearer(secret))).status).toBe(200)
      // Nothing is flushed: it was durable before the response.
      expect((await rejectionsOf(ingest, id)).map((told) => told.message)).toEqual([message])
      expect(await devicesOf(ingest, id)).toEqual([])
    },
  )

  test('data that can never be accepted gets a 2xx and a rejection for an unknown content coding, and for a damaged body', async () => {
    const { id, secret } = await ingest.createKey()
    const packed = gzipSync(location())
    for (const [coding, bytes] of [
      ['zstd', packed],
      ['gzip', packed.subarray(0, 20)],
    ] as const) {
      const headers = { ...bearer(secret), 'Content-Encoding': coding }
      expect((await post(ingest, OWNTRACKS, bytes, headers)).status).toBe(200)
    }
    expect(await rejectionsOf(ingest, id)).toHaveLength(2)
    expect(
      (await post(ingest, OWNTRACKS, packed, { ...bearer(secret), 'Content-Encoding': 'gzip' }))
        .status,
    ).toBe(200)
    expect(await devicesOf(ingest, id)).toEqual(['JJ'])
  })

  test('a photo or a batch of thousands of points causes no rejection', async () => {
    const { id, secret } = await ingest.createKey()
    const photo = location({ image: 'A'.repeat(6 * 1024 * 1024), imagename: 'pier' })
    expect((await post(ingest, OWNTRACKS, photo, bearer(secret))).status).toBe(200)
    const points = Array.from({ length: 9_000 }, () => feature())
    const sent = () => post(ingest, OVERLAND, batch(...points), bearer(secret))
    expect((await unhurried(sent)).status).toBe(200)
    expect(await rejectionsOf(ingest, id)).toEqual([])
    expect(await devicesOf(ingest, id)).toHaveLength(9_001)
  })

  test.each<[string, string, (points: number) => string]>([
    [
      'PhoneTrack',
      '/log/multiple',
      (points) =>
        JSON.stringify({ points: Array.from({ length: points }, () => [54.3, 10.1, now()]) }),
    ],
    ['Overland', OVERLAND, (points) => batch(...Array.from({ length: points }, () => small()))],
  ])(
    'data that can never be accepted gets a 2xx and a rejection: the points of %s beyond 10 000',
    async (_app, path, body) => {
      const { id, secret } = await ingest.createKey()
      const at = path.startsWith('/log') ? `${path}/${secret}/van` : path
      const sent = () => post(ingest, at, body(10_002), bearer(secret))
      expect((await unhurried(sent)).status).toBe(200)
      expect(await devicesOf(ingest, id)).toHaveLength(10_000)
      expect((await rejectionsOf(ingest, id)).map(({ message }) => message)).toEqual([
        'a request may have 10000 points: 2 more were sent',
      ])
    },
  )

  test('hundreds of thousands of malformed points get a 2xx and one rejection', async () => {
    const { id, secret } = await ingest.createKey()
    const points = gzipSync(`{"points":[${'[],'.repeat(349_000)}[]]}`)
    const headers = { 'Content-Encoding': 'gzip' }
    const sent = () => post(ingest, `/log/multiple/${secret}/van`, points, headers)
    expect((await unhurried(sent)).status).toBe(200)
    expect((await rejectionsOf(ingest, id)).map(({ message, count }) => [message, count])).toEqual([
      ['10000 of the points are not lists that start with latitude and longitude', 1],
      ['a request may have 10000 points: 339001 more were sent', 1],
    ])
  })

  test('many rejections in a second are counted durably before the 2xx', async () => {
    const { id, secret } = await ingest.createKey()
    ingest.clock.time += 1_000
    const bad = Array.from({ length: 50 }, () => feature(95))
    expect((await post(ingest, OVERLAND, batch(...bad, feature()), bearer(secret))).status).toBe(
      200,
    )
    const counts = (await rejectionsOf(ingest, id)).map(({ count }) => count)
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(50)
    expect(counts.length).toBeLessThanOrEqual(22)
    expect(await devicesOf(ingest, id)).toEqual(['van'])
    ingest.clock.time += 1_000
  })

  test('data that can never be accepted gets a 503 if the rejection cannot be written', async () => {
    const away = await startIngest({
      wrapRejections: () => ({ append: () => Promise.reject(new Error('away')) }),
    })
    const { secret } = await away.createKey()
    const answer = await away.request(`${OSMAND}/${secret}?id=van&lat=95&lon=10`)
    expect(answer.status).toBe(503)
    expect(answer.body['message']).toBe('the rejection could not be stored: send the request again')
    expect(answer.headers.get('retry-after')).toMatch(/^[123]$/)
    expect((await away.request(`${OSMAND}/${secret}?${query()}`)).status).toBe(200)
    await away.close()
  })
})

test('attributes that do not fit are counted by app, and the rest reach the log', async () => {
  const { id, secret } = await ingest.createKey()
  const dropped = async () => {
    const { values } = await ingest.metrics.attributesDropped.get()
    return values.find(({ labels }) => labels.app === 'osmand')?.value
  }
  const before = await dropped()
  const sent = `id=van&lat=1&lon=2&alarm=sos&9bad=1&note=${'x'.repeat(257)}`
  expect((await ingest.request(`${OSMAND}/${secret}?${sent}`)).status).toBe(200)
  expect(await dropped()).toBe((before ?? NaN) + 2)
  const [event] = (await ingest.logged()).filter(({ keyId }) => keyId === id)
  expect(event?.attributes).toEqual({ alarm: 'sos' })
})
