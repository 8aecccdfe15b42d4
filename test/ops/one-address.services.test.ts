import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { request } from 'undici'
import { eventually } from '../eventually.ts'
import { endPrograms } from '../running-programs.ts'
import { describeWith } from '../services/describe-with.ts'
import { freePort } from '../services/own-server.ts'
import { temporaryDirectory } from '../temporary-directory.ts'
import { STARTS } from './proxies.ts'

/**
 * Requests to the shared address: method, path below the prefix, the API that responds, and the
 * path that it gets.
 */
const TABLE = [
  ['POST', '/api/v1/gps/submit', 'ingest', '/api/v1/gps/submit'],
  ['POST', '/api/v1/gps/batch', 'ingest', '/api/v1/gps/batch'],
  ['GET', '/api/v1/senders/osmand/key?id=a', 'ingest', '/api/v1/senders/osmand/key?id=a'],
  ['POST', '/api/v1/overland/batches', 'ingest', '/api/v1/overland/batches'],
  ['POST', '/api/v1/owntracks/points', 'ingest', '/api/v1/owntracks/points'],
  ['POST', '/api/v1/traccar/points', 'ingest', '/api/v1/traccar/points'],
  ['POST', '/pub', 'ingest', '/pub'],
  ['GET', '/log/osmand/key/van?lat=1', 'ingest', '/log/osmand/key/van?lat=1'],
  ['POST', '/', 'ingest', '/'],
  ['POST', '/?id=a', 'ingest', '/?id=a'],
  ['GET', '/?id=a', 'ingest', '/?id=a'],
  ['GET', '/?timestamp=1&deviceid=a', 'ingest', '/?timestamp=1&deviceid=a'],
  ['GET', '/?lat=1&lon=2', 'ingest', '/?lat=1&lon=2'],
  ['GET', '/?location=1,2', 'ingest', '/?location=1,2'],
  ['GET', '/ingest/docs', 'ingest', '/docs'],
  ['POST', '/ingest/apps/phonetrack/logPost/key/van', 'ingest', '/apps/phonetrack/logPost/key/van'],
  ['GET', '/ingest/openapi.json', 'ingest', '/openapi.json'],
  ['GET', '/ingest/readyz', 'ingest', '/readyz'],
  ['GET', '/', 'admin', '/'],
  ['GET', '/?device=van', 'admin', '/?device=van'],
  ['GET', '/?void=1&flat=2', 'admin', '/?void=1&flat=2'],
  ['GET', '/?status=online&q=id', 'admin', '/?status=online&q=id'],
  ['GET', '/keys', 'admin', '/keys'],
  ['GET', '/docs', 'admin', '/docs'],
  ['GET', '/readyz', 'admin', '/readyz'],
  ['GET', '/assets/index-x1.js', 'admin', '/assets/index-x1.js'],
  ['GET', '/api/v1/devices/a%2Fb', 'admin', '/api/v1/devices/a%2Fb'],
  ['POST', '/api/v1/keys', 'admin', '/api/v1/keys'],
  ['DELETE', '/api/v1/session', 'admin', '/api/v1/session'],
  ['GET', '/logs', 'admin', '/logs'],
] as const

const STREAM = '/api/v1/stream'
/** OwnTracks includes photos in its messages. */
const LARGEST_BYTES = 8 * 1024 * 1024

type Received = { by: string; method: string; url: string; headers: Record<string, string> }

const RECIPES = [
  ['nginx', '/gps'],
  ['nginx', ''],
  ['caddy', '/gps'],
  ['caddy', ''],
  ['traefik', '/gps'],
] as const

for (const [name, prefix] of RECIPES) {
  const where = prefix === '' ? 'at its root' : `under ${prefix}`
  await describeWith([name], `both APIs behind one address, ${where}, with ${name}`, (services) => {
    const apis: Record<'ingest' | 'admin', Server> = { ingest: api('ingest'), admin: api('admin') }
    let directory: Awaited<ReturnType<typeof temporaryDirectory>>
    let url = ''

    beforeAll(async () => {
      directory = await temporaryDirectory()
      const front = await freePort()
      const [admin, ingest] = [await listening(apis.admin), await listening(apis.ingest)]
      const program = services[name]
      await STARTS[name]({ front, admin, ingest, prefix, directory: directory.path, program })
      url = `http://127.0.0.1:${front}${prefix}`
      // Traefik reads its rules after it has started to listen.
      await eventually(async () => (await ask('GET', '/keys')).status === 200)
    })

    afterAll(async () => {
      await endPrograms()
      for (const server of Object.values(apis)) {
        server.close()
        server.closeAllConnections()
      }
      await directory.remove()
    })

    async function ask(method: 'GET' | 'POST' | 'DELETE', path: string) {
      // Not fetch, which would change the path.
      const { statusCode, headers, body } = await request(url + path, { method })
      return { status: statusCode, headers, text: await body.text() }
    }

    test.each(TABLE)('%s %s goes to the %s API as %s', async (method, path, by, arriving) => {
      const { text } = await ask(method, path)
      expect(JSON.parse(text)).toMatchObject({ by, method, url: arriving })
    })

    test.each([
      ['/?id=a', 'ingest'],
      ['/', 'admin'],
    ])('HEAD %s goes to the %s API', async (path, by) => {
      const { headers } = await request(url + path, { method: 'HEAD' })
      expect(headers['answered-by']).toBe(by)
    })

    test('the largest request of any app arrives whole', async () => {
      const body = Buffer.alloc(LARGEST_BYTES)
      const answer = await request(`${url}/pub`, { method: 'POST', body })
      expect([answer.statusCode, await answer.body.json()]).toMatchObject([
        200,
        { by: 'ingest', bytes: LARGEST_BYTES },
      ])
    })

    test('streamed responses of an API arrive before they end', async () => {
      const { body } = await request(url + STREAM)
      const [first] = (await once(body, 'data')) as [Buffer]
      expect(first.toString()).toBe('first')
      body.on('error', () => undefined).destroy()
    })

    test.each(['/metrics', '/ingest/metrics', '/%6Detrics'])('%s stays inside', async (path) => {
      const { status, text } = await ask('GET', path)
      // Traefik asks an API for a path that it does not have.
      if (name === 'traefik') expect((JSON.parse(text) as Received).url).toBe('/hidden')
      else expect([status, text]).toEqual([404, name === 'nginx' ? expect.any(String) : ''])
    })

    if (prefix !== '')
      test('the address without its trailing slash leads to the console', async () => {
        const { status, headers } = await ask('GET', '')
        expect([301, 308]).toContain(status)
        expect(new URL(String(headers['location']), url).href).toBe(`${url}/`)
      })

    test("the proxy passes the client's address and scheme to the APIs", async () => {
      const { headers } = JSON.parse((await ask('GET', '/keys')).text) as Received
      expect(headers).toMatchObject({
        'x-forwarded-for': '127.0.0.1',
        'x-forwarded-proto': 'http',
        host: new URL(url).host,
      })
    })

    if (name === 'traefik') return
    test('an unavailable API gives a 503 in the envelope, so that senders retry', async () => {
      apis.ingest.close()
      apis.ingest.closeAllConnections()
      const { status, headers, text } = await ask('POST', '/api/v1/gps/submit')
      expect(JSON.parse(text)).toMatchObject({ code: 503, error: 'SERVICE_UNAVAILABLE' })
      expect([status, headers['retry-after']]).toEqual([503, '5'])
    })
  })
}

/** Echoes each request; on the stream's path, sends a start that never ends. */
function api(by: string): Server {
  return createServer((received, response) => {
    const { method, url, headers } = received
    response.setHeader('Answered-By', by)
    if (url === STREAM) {
      response.write('first')
      return
    }
    let bytes = 0
    received.on('data', (chunk: Buffer) => (bytes += chunk.length))
    received.on('end', () => response.end(JSON.stringify({ by, method, url, headers, bytes })))
  })
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}
