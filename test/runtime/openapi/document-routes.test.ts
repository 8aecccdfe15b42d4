import Router from '@koa/router'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import Koa from 'koa'
import { pino } from 'pino'
import { answerInEnvelope, identifyRequest, type HttpState } from '../../../runtime/http/http.ts'
import { serveHttp, type HttpServer } from '../../../runtime/http/http-server.ts'
import { documentRoutes } from '../../../runtime/openapi/document-routes.ts'
import { openApiDocument } from '../../../runtime/openapi/document.ts'
import { SERVICE_CALLS, SERVICE_TAG } from '../../../runtime/http/service-routes.ts'
import { eventually } from '../../eventually.ts'
import { rawConnection } from '../../raw-connection.ts'

const document = openApiDocument({
  title: 'Boats & <trains>',
  description: 'For a test.',
  tags: [SERVICE_TAG],
  securitySchemes: {},
  operations: SERVICE_CALLS,
})

let server: HttpServer
/** The bytes of each response. */
let bodies: unknown[]

beforeEach(() => {
  bodies = []
})

beforeAll(async () => {
  const router = new Router<HttpState>({ strict: true })
  documentRoutes(router, () => document)
  const app = new Koa<HttpState>()
  app.silent = true
  app.use(async (ctx, next) => {
    await next()
    bodies.push(ctx.body)
  })
  app.use(identifyRequest())
  app.use(answerInEnvelope({ logger: pino({ level: 'silent' }) }))
  app.use(router.routes())
  server = await serveHttp({ app, host: '127.0.0.1', port: 0, graceMs: 100 })
})

afterAll(() => server.close())

const get = (path: string, init: RequestInit = {}) => fetch(server.url + path, init)

// First: the file must not have been read yet.
test('all responses with a file share its bytes, even those requested before it was read', async () => {
  const path = '/docs/swagger-ui-bundle.js'
  const request = `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(10)
  const { socket } = rawConnection(server.url, request)
  await eventually(() => bodies.length === 10)
  socket.destroy()
  expect(bodies[0]).toBeInstanceOf(Uint8Array)
  expect(new Set(bodies).size).toBe(1)
})

test('the document is served unchanged', async () => {
  const answer = await get('/openapi.json')
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
  expect(await answer.json()).toEqual(document)
})

test('the page loads only files served beside it, with the right media types', async () => {
  const page = await (await get('/docs')).text()
  const links = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link = '']) => link)
  expect(links).toHaveLength(6)
  for (const link of links) {
    expect(link).not.toMatch(/^(\/|\w+:)/)
    const answer = await get(`/${link}`)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    const ending = /\.(\w+)$/.exec(link)?.[1] ?? ''
    const types = { css: 'text/css', js: 'text/javascript', png: 'image/png' }
    const type = { ...types, json: 'application/json' }[ending]
    expect(answer.headers.get('content-type')?.split(';')[0]).toBe(type)
    expect((await answer.arrayBuffer()).byteLength).toBeGreaterThan(100)
  }
})

test('the page runs no inline scripts and loads nothing from other hosts', async () => {
  const answer = await get('/docs')
  const policy = answer.headers.get('content-security-policy') ?? ''
  expect(policy).toMatch(/^default-src 'self';/)
  expect(policy).not.toMatch(/unsafe|\*|http/)
  expect(await answer.text()).not.toMatch(/<script>|<script [^s]|<style|style=|\bon\w+=/)
  expect(await (await get('/docs/start.js')).text()).toContain('validatorUrl: null')
})

test('the page shows the title as text', async () => {
  expect(await (await get('/docs')).text()).toContain('<title>Boats &amp; &lt;trains&gt;</title>')
})

test("the page's address with a trailing slash redirects to where its links work", async () => {
  const answer = await get('/docs/', { redirect: 'manual' })
  expect([answer.status, answer.headers.get('location')]).toEqual([302, '../docs'])
})

test('an unchanged document is not sent again', async () => {
  for (const path of ['/openapi.json', '/docs', '/docs/swagger-ui.css']) {
    const etag = (await get(path)).headers.get('etag') ?? ''
    // By default fetch ignores its cache for a tagged resource.
    const ask = (tag: string) =>
      get(path, { headers: { 'If-None-Match': tag, 'Cache-Control': 'max-age=0' } })
    const again = await ask(etag)
    expect([again.status, (await again.text()).length]).toEqual([304, 0])
    const other = await ask('"other"')
    expect(other.status).toBe(200)
  }
})

test.each([
  '/docs/../package.json',
  '/docs/..%2f..%2fpackage.json',
  '/docs/%2e%2e/index.html',
  '/docs/index.html',
  '/docs/package.json',
  '/docs/swagger-ui.css/..',
  '/docs/swagger-ui.css%00',
])('nothing else of the package is served: %s', async (path) => {
  // Sent raw: fetch would resolve the dots in the path.
  const request = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`
  const { received, closed } = rawConnection(server.url, request)
  await closed
  expect(received()).toMatch(/^HTTP\/1.1 404 /)
})
