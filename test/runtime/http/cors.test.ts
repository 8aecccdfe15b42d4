import { afterAll, beforeAll, expect, test } from '@jest/globals'
import Koa from 'koa'
import { ConfigError, loadConfig } from '../../../runtime/config/config.ts'
import { serveHttp, type HttpServer } from '../../../runtime/http/http-server.ts'
import { rawConnection } from '../../raw-connection.ts'

const PAGE = 'https://map.example.org'
const PREFLIGHT = { Origin: PAGE, 'Access-Control-Request-Method': 'POST' }

let listed: HttpServer
let open: HttpServer
let closed: HttpServer

beforeAll(async () => {
  const app = new Koa()
  app.silent = true
  // As with reports: responds after the body has arrived, with all headers at once.
  app.use(async (ctx) => {
    ctx.respond = false
    await ctx.req.resume().toArray()
    ctx.res.writeHead(401, ['X-Request-Id', 'r-1', 'Content-Length', '0']).end()
  })
  const options = { app, host: '127.0.0.1', port: 0, graceMs: 500, arrivesWithinMs: 1_000 }
  listed = await serveHttp({ ...options, corsOrigins: [PAGE] })
  open = await serveHttp({ ...options, corsOrigins: '*' })
  closed = await serveHttp(options)
})

afterAll(() => Promise.all([listed, open, closed].map((server) => server.close())))

function allowed({ headers }: Response): string | null {
  return headers.get('access-control-allow-origin')
}

test('a preflight of a listed origin gets its response before any authentication', async () => {
  const answer = await fetch(listed.url, { method: 'OPTIONS', headers: PREFLIGHT })
  expect(answer.status).toBe(204)
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'access-control-allow-origin': PAGE,
    'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
    'access-control-allow-headers': 'Authorization, Content-Type, Idempotency-Key, Last-Event-ID',
    'access-control-max-age': '3600',
    'x-request-id': expect.anything() as unknown,
    vary: 'Origin',
  })
  expect(answer.headers.has('access-control-allow-credentials')).toBe(false)
})

test('a page of a listed origin may read every response and the rate-limit headers', async () => {
  const answer = await fetch(listed.url, { headers: { Origin: PAGE } })
  expect([answer.status, allowed(answer)]).toEqual([401, PAGE])
  expect(answer.headers.get('access-control-expose-headers')).toBe(
    'RateLimit, RateLimit-Policy, Retry-After, X-Request-Id',
  )
  expect(answer.headers.has('access-control-allow-credentials')).toBe(false)
})

test('OPTIONS of a listed origin that is not a preflight is an ordinary request', async () => {
  const answer = await fetch(listed.url, { method: 'OPTIONS', headers: { Origin: PAGE } })
  expect([answer.status, allowed(answer)]).toEqual([401, PAGE])
})

test('caches store responses to different origins separately', async () => {
  expect((await fetch(listed.url)).headers.get('vary')).toBe('Origin')
})

test.each([
  ['of another scheme', 'http://map.example.org'],
  ['of another port', 'https://map.example.org:8443'],
  ['of a longer name', 'https://map.example.org.evil.example'],
  ['without a name', 'null'],
])('a page of an origin %s gets no access', async (_, origin) => {
  const headers = { ...PREFLIGHT, Origin: origin }
  expect(allowed(await fetch(listed.url, { headers }))).toBeNull()
  const preflight = await fetch(listed.url, { method: 'OPTIONS', headers })
  expect([preflight.status, allowed(preflight)]).toEqual([401, null])
})

const BODY_OF_9 = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n'
const LONG_URL = `GET /?${'x'.repeat(17_000)} HTTP/1.1\r\nHost: a\r\n`
const LONG_HEADER = `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(17_000)}\r\n`
const CHUNKS = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n'

test.each([
  ['408', 'did not arrive in time', BODY_OF_9, '{'],
  ['400', 'was not well-formed', CHUNKS, 'zz\r\n'],
  ['400', 'has a malformed header', 'GET / HTTP/1.1\r\nHo st: a\r\n', ''],
  ['431', 'has a URL that is too long', LONG_URL, ''],
  ['431', 'has a header that is too large', LONG_HEADER, ''],
])(
  'a page of a listed origin may read the %s to a request that %s',
  async (status, _, head, body) => {
    const { received, closed } = rawConnection(listed.url, `${head}Origin: ${PAGE}\r\n\r\n${body}`)
    await closed
    expect(received()).toContain(`HTTP/1.1 ${status} `)
    expect(received()).toContain(`Access-Control-Allow-Origin: ${PAGE}\r\n`)
    expect(received()).toContain('Access-Control-Expose-Headers: RateLimit,')
    expect(received()).toContain('Vary: Origin\r\n')
    const other = rawConnection(listed.url, `${head}Origin: https://a.example\r\n\r\n${body}`)
    await other.closed
    expect(other.received()).toContain(`HTTP/1.1 ${status} `)
    expect(other.received()).not.toContain('Access-Control')
  },
)

test.each([
  ['a listed one, if no other is listed', () => listed, PAGE],
  ['every one, if * is listed', () => open, '*'],
])('%s may read the 431 to a request without a known origin', async (_, of, origin) => {
  const { received, closed } = rawConnection(of().url, LONG_URL)
  await closed
  expect(received()).toContain('HTTP/1.1 431 ')
  expect(received()).toContain(`Access-Control-Allow-Origin: ${origin}\r\n`)
})

test('with * pages of every origin may call', async () => {
  const answer = await fetch(open.url, { method: 'OPTIONS', headers: PREFLIGHT })
  expect([answer.status, allowed(answer)]).toEqual([204, '*'])
})

test('without CORS_ORIGINS pages of other origins may not call', async () => {
  const answer = await fetch(closed.url, { method: 'OPTIONS', headers: PREFLIGHT })
  expect([answer.status, allowed(answer)]).toEqual([401, null])
})

test.each([
  'https://map.example.org/',
  'https://Map.example.org',
  'map.example.org',
  'https://a *',
])('CORS_ORIGINS=%s aborts the start, naming the expected form', (value) => {
  const load = () => loadConfig({ CORS_ORIGINS: value })
  expect(load).toThrow(ConfigError)
  expect(load).toThrow('CORS_ORIGINS must be origins in lower case without a slash at the end')
})
