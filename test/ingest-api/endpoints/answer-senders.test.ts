import { describe, expect, test } from '@jest/globals'
import { T0 } from '../../samples.ts'
import { ingestForAllTests, type IngestHarness } from '../ingest-harness.ts'
import {
  batch,
  bearer,
  devicesOf,
  feature,
  location,
  OSMAND,
  OVERLAND,
  OWNTRACKS,
  post,
  query,
} from '../apps/app-requests.ts'

let ingest: IngestHarness
ingestForAllTests((given) => ({ ingest } = given))

describe('responses to apps', () => {
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
  ])(
    'the response to %s has the status and body that the app expects',
    async (_, path, body, status, text) => {
      const { id, secret } = await ingest.createKey()
      const answer = await fetch(ingest.url + path, {
        method: 'POST',
        body: body(),
        headers: bearer(secret),
      })
      expect([answer.status, await answer.text()]).toEqual([status, text])
      expect(answer.headers.get('x-request-id')).toMatch(/^[\w-]+$/)
      expect(answer.headers.get('cache-control')).toBe('no-store')
      expect(await devicesOf(ingest, id)).toHaveLength(1)
    },
  )

  test('Overland in its OwnTracks mode gets Overland’s response, and its times count from 2001', async () => {
    const { id, secret } = await ingest.createKey()
    const headers = { Authorization: `Basic ${secret}:` }
    const answer = await post(
      ingest,
      OWNTRACKS,
      location({ tst: T0 / 1000 - 978_307_200 }),
      headers,
    )
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
  ])('the response to HEAD is 200 without a key: %s', async (path) => {
    const answer = await fetch(ingest.url + path, { method: 'HEAD' })
    expect(answer.status).toBe(200)
  })

  test('the root path responds with the service’s name if the request has no position', async () => {
    expect((await ingest.request('/?key=x')).body).toMatchObject({
      data: { service: 'gps-ingest-api' },
    })
    for (const field of ['id', 'deviceid', 'lat', 'location']) {
      expect((await ingest.request(`/?${field}=1`)).status).toBe(401)
    }
  })

  // Inherited properties of objects are not readers either.
  test.each(['anything', 'constructor'])(
    'the response to PhoneTrack’s app called %s is an empty 200',
    async (app) => {
      const { id, secret } = await ingest.createKey()
      const answer = await fetch(`${ingest.url}/log/${app}/${secret}/van?${query()}`)
      expect([answer.status, await answer.text()]).toEqual([200, ''])
      expect(await devicesOf(ingest, id)).toEqual(['van'])
    },
  )

  test.each(['/', '/log/osmand/:key', '/log/osmand/:key/van', '/api/v1/senders/osmand/:key'])(
    'the response to %s is empty text, as documented, instead of missing JSON',
    async (path) => {
      const { secret } = await ingest.createKey()
      const at = path.replace(':key', secret)
      const { status, body, headers } = await ingest.request(`${at}?${query()}&key=${secret}`)
      expect([status, body]).toEqual([200, { text: '' }])
      expect(headers.get('content-type')).toBe('text/plain; charset=utf-8')
    },
  )

  test('the response to OwnTracks without a valid key is never a 4xx, not even at PhoneTrack’s paths', async () => {
    const prefixes = ['', '/apps/phonetrack', '/index.php/apps/phonetrack']
    for (const path of prefixes.map((prefix) => `${prefix}/log/owntracks/none/van`)) {
      const answer = await fetch(ingest.url + path, { method: 'POST', body: location() })
      expect([answer.status, answer.headers.has('retry-after')]).toEqual([503, true])
    }
    expect((await post(ingest, '/log/osmand/none/van', query())).status).toBe(401)
  })

  test.each(['My-Logger2', '0'])(
    'the response to PhoneTrack’s app %s is the same as to a known app',
    async (app) => {
      const { id, secret } = await ingest.createKey()
      const url = `${ingest.url}/log/${app}/${secret}/tug?lat=45&lon=13&timestamp=${T0 / 1000}`
      expect((await fetch(url)).status).toBe(200)
      expect(await devicesOf(ingest, id)).toEqual(['tug'])
    },
  )

  test('a path with a trailing slash gets its response without a redirect', async () => {
    const { id, secret } = await ingest.createKey()
    const url = `${ingest.url}/api/v1/senders/traccar/${secret}/?${query()}`
    expect((await fetch(url)).status).toBe(200)
    expect(await devicesOf(ingest, id)).toEqual(['van'])
  })

  test('the response to another method names the allowed methods', async () => {
    const answer = await ingest.request(OVERLAND, { method: 'PUT' })
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST'])
  })
})
