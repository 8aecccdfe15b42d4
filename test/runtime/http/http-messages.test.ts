import { afterAll, beforeAll, expect, test } from '@jest/globals'
import Koa from 'koa'
import { serveHttp, type HttpServer } from '../../../runtime/http/http-server.ts'
import { rawConnection } from '../../raw-connection.ts'

let server: HttpServer

beforeAll(async () => {
  const app = new Koa()
  app.silent = true
  app.use(async (ctx) => {
    await ctx.req.resume().toArray()
    ctx.body = 'ok'
  })
  const place = { app, host: '127.0.0.1', port: 0, graceMs: 500, arrivesWithinMs: 500 }
  server = await serveHttp({ ...place, comesAgain: ({ url }) => url === '/app' })
})

afterAll(() => server.close())

const HEAD = 'GET / HTTP/1.1\r\nHost: a\r\n'

test.each([
  ['an HTTP/1.1 request needs a Host header', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n'],
  ['the request line has no valid URL', 'GET http://[ HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['CONNECT is not served', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a request may have 100 headers', `${HEAD}${'X: 1\r\n'.repeat(101)}\r\n`],
  ['the headers are larger than 16 KiB', `${HEAD}X: ${'x'.repeat(17_000)}\r\n\r\n`],
  ['the request is not well-formed HTTP/1.1', 'no HTTP\r\n\r\n'],
  [
    'the request did not arrive in time: send it again',
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{',
  ],
  [
    'the request did not arrive whole: send it again',
    'POST /app HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{',
  ],
])('a client that violates HTTP gets the message: %s', async (message, sent) => {
  const { received, closed } = rawConnection(server.url, sent)
  await closed
  expect(received()).toContain(JSON.stringify(message))
})
