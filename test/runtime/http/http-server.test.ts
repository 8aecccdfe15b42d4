/** @node all */
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  jest,
  test,
} from '@jest/globals'
import Koa from 'koa'
import { pino } from 'pino'
import {
  answerInEnvelope,
  identifyRequest,
  succeed,
  type HttpState,
} from '../../../runtime/http/http.ts'
import { serveHttp, type HttpServer } from '../../../runtime/http/http-server.ts'
import { countTakenBytes, unacknowledgedBytes } from '../../../runtime/http/reading-client.ts'
import { eventually } from '../../eventually.ts'
import { rawConnection, type RawConnection } from '../../raw-connection.ts'

/** An app that responds on demand. */
function patientApp() {
  const waiting: (() => void)[] = []
  const open = new Set<string>()
  const sockets = new Map<string, Socket>()
  const logged: string[] = []
  const logger = pino({}, { write: (line) => logged.push(line) })
  const app = new Koa<HttpState>()
  app.silent = true
  app.use(identifyRequest())
  app.use(answerInEnvelope({ logger }))
  app.use(async (ctx) => {
    if (ctx.path === '/turn') return succeed(ctx, {})
    open.add(ctx.path)
    sockets.set(ctx.path, ctx.req.socket)
    ctx.res.once('close', () => open.delete(ctx.path))
    if (ctx.path === '/wait') await new Promise<void>((resolve) => waiting.push(resolve))
    if (ctx.path === '/body') await ctx.req.resume().toArray()
    if (ctx.path === '/fail') throw new Error('secret insides')
    if (ctx.path === '/stream') {
      ctx.set('Content-Type', 'text/event-stream')
      ctx.body = Readable.from(events(), { objectMode: false })
      return
    }
    if (ctx.path.startsWith('/large')) return void (ctx.body = Buffer.alloc(64 * 1024 * 1024))
    succeed(ctx, { path: ctx.path, last: ctx.get('x-last') })
  })
  return { app, waiting, open, sockets, logged }
}

type PatientApp = ReturnType<typeof patientApp>

function* events() {
  for (;;) yield 'data: {}\n\n'.repeat(1_000)
}

async function exchange(url: string, text: string) {
  const { received, closed } = rawConnection(url, text)
  await closed
  const [head = '', body = ''] = received().split('\r\n\r\n')
  return {
    status: Number(head.split(' ')[1]),
    head,
    body: JSON.parse(body) as Record<string, unknown>,
  }
}

describe('requests that never reach the app get the error envelope', () => {
  let server: HttpServer
  const { app, logged } = patientApp()

  beforeAll(async () => {
    server = await serveHttp({ app, host: '127.0.0.1', port: 0, graceMs: 500 })
  })

  afterAll(() => server.close())

  test.each([
    ['no HTTP at all', 'hello there\r\n\r\n', 400, 'INVALID_PARAMS'],
    ['an unknown method', 'FETCH / HTTP/1.1\r\nHost: a\r\n\r\n', 400, 'INVALID_PARAMS'],
    ['an invalid URL', 'GET http://[a/ HTTP/1.1\r\nHost: a\r\n\r\n', 400, 'INVALID_PARAMS'],
    ['no Host', 'GET / HTTP/1.1\r\n\r\n', 400, 'INVALID_PARAMS'],
    [
      'lying about its length',
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n',
      400,
      'INVALID_PARAMS',
    ],
    [
      'length and chunks at once',
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
      'INVALID_PARAMS',
    ],
    [
      'a broken chunk',
      'POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
      400,
      'INVALID_PARAMS',
    ],
    [
      'headers of 20 KiB',
      `GET / HTTP/1.1\r\nHost: a\r\nX-Long: ${'x'.repeat(20 * 1024)}\r\n\r\n`,
      431,
      'HEADERS_TOO_LARGE',
    ],
    [
      'more than 100 headers',
      `GET / HTTP/1.1\r\nHost: a\r\n${'X-A: 1\r\n'.repeat(100)}\r\n`,
      431,
      'HEADERS_TOO_LARGE',
    ],
    ['CONNECT', 'CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n', 405, 'METHOD_NOT_ALLOWED'],
  ])('%s is rejected in the envelope', async (_what, text, status, error) => {
    const answer = await exchange(server.url, text)
    expect(answer.status).toBe(status)
    expect(answer.body).toMatchObject({ success: false, code: status, error })
    expect(answer.head).toMatch(/X-Request-Id: \S+/i)
    expect(answer.head).toMatch(/Cache-Control: no-store/i)
    expect(answer.head).toMatch(/X-Content-Type-Options: nosniff/i)
  })

  test('the app gets to see all of 100 headers', async () => {
    const headers = `Connection: close\r\n${'X-A: 1\r\n'.repeat(97)}X-Last: here\r\n`
    const answer = await exchange(server.url, `GET /headers HTTP/1.1\r\nHost: a\r\n${headers}\r\n`)
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({ data: { last: 'here' } })
  })

  test.each(['/a', '/fail'])(
    'no cache keeps a response, and no browser guesses: %s',
    async (path) => {
      const { headers } = await fetch(server.url + path)
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
    },
  )

  test('an unknown expectation is served as any other request', async () => {
    const answer = await exchange(
      server.url,
      'GET /a HTTP/1.1\r\nHost: a\r\nExpect: miracles\r\nConnection: close\r\n\r\n',
    )
    expect(answer.status).toBe(200)
  })

  test('an internal error is described in the log only', async () => {
    const response = await fetch(`${server.url}/fail`)
    const text = await response.text()
    expect(response.status).toBe(500)
    expect(text).not.toContain('secret insides')
    expect(logged.at(-1)).toContain('secret insides')
    expect(JSON.parse(text)).toMatchObject({ success: false, code: 500, error: 'SERVER_ERROR' })
  })
})

test('a valid request gets its response even if garbage follows it', async () => {
  const { app, waiting } = patientApp()
  const server = await serveHttp({ app, host: '127.0.0.1', port: 0, graceMs: 500 })
  const { received, closed } = rawConnection(
    server.url,
    'GET /wait HTTP/1.1\r\nHost: a\r\n\r\n\u0001garbage\r\n\r\n',
  )
  await eventually(() => waiting.length === 1)
  expect(received()).toBe('')
  waiting[0]?.()
  await closed
  expect(received()).toMatch(/^HTTP\/1\.1 200 /)
  expect(received()).toMatch(/HTTP\/1\.1 400 /)
  await server.close()
})

/** With memory for all unread data, so that only time counts here. */
const serve = (app: Koa<HttpState>, unreadMs: number) =>
  serveHttp({ app, unreadMs, ...ANYWHERE, mostWaitingBytes: Infinity })
const ANYWHERE = { host: '127.0.0.1', port: 0, graceMs: 500 }

/** Reads nothing of a large response until it is cut off. */
async function isCutOff({ url }: HttpServer, open: Set<string>): Promise<void> {
  const { socket, closed } = rawConnection(url, 'GET /large HTTP/1.1\r\nHost: a\r\n\r\n')
  socket.pause()
  await eventually(() => open.has('/large'))
  await eventually(() => !open.has('/large'))
  socket.destroy()
  await closed
}

test('an unread response is cut off once its client has read nothing for a while', async () => {
  const { app, open } = patientApp()
  const server = await serve(app, 1_000)
  const started = performance.now()
  await isCutOff(server, open)
  expect(performance.now() - started).toBeGreaterThan(1_000)
  await server.close()
})

test('a response that takes long to produce is not cut off, nor is a stream of events', async () => {
  const { app, waiting, open } = patientApp()
  const server = await serve(app, 1_000)
  const answered = fetch(`${server.url}/wait`)
  const stream = rawConnection(server.url, 'GET /stream HTTP/1.1\r\nHost: a\r\n\r\n')
  stream.socket.pause()
  await eventually(() => open.has('/stream') && waiting.length === 1)
  for (let others = 0; others < 2; others += 1) await isCutOff(server, open)
  waiting[0]?.()
  expect((await answered).status).toBe(200)
  expect([...open]).toEqual(['/stream'])
  stream.socket.destroy()
  await server.close()
})

test('closing answers received requests, accepts no new ones and destroys incomplete ones', async () => {
  const { app, waiting } = patientApp()
  const server = await serveHttp({ app, host: '127.0.0.1', port: 0, graceMs: 2_000 })
  const half = rawConnection(
    server.url,
    'POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf',
  )
  const answered = fetch(`${server.url}/wait`)
  await eventually(() => waiting.length === 1)
  const closed = server.close()
  await expect(fetch(server.url)).rejects.toThrow()
  waiting[0]?.()
  const response = await answered
  expect(response.status).toBe(200)
  expect(response.headers.get('connection')).toBe('close')
  await closed
  await half.closed
  expect(half.received()).toBe('')
})

test('a port in use is an error in plain words', async () => {
  const { app } = patientApp()
  const first = await serveHttp({ app, host: '127.0.0.1', port: 0, graceMs: 500 })
  const port = Number(new URL(first.url).port)
  await expect(serveHttp({ app, host: '127.0.0.1', port, graceMs: 500 })).rejects.toThrow(
    `port ${port} of 127.0.0.1 is in use`,
  )
  await first.close()
})

describe('a client that does not read its whole response', () => {
  let server: HttpServer
  const clients: RawConnection[] = []
  let msAhead = 0

  beforeEach(() => {
    const now = performance.now.bind(performance)
    jest.spyOn(performance, 'now').mockImplementation(() => now() + msAhead)
  })

  afterEach(async () => {
    jest.restoreAllMocks()
    for (const { socket } of clients.splice(0)) socket.destroy()
    await server.close()
  })

  /**
   * Requests a large response; resolves when part of it has arrived and the kernel's buffers are
   * full.
   */
  async function ask({ open, sockets }: PatientApp, path: string) {
    const client = rawConnection(server.url, `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)
    clients.push(client)
    const { socket, received, closed } = client
    const atServer = await eventually(() => received().length > 0 && sockets.get(path))
    socket.pause()
    let looks = 0
    atServer.on('timeout', () => (looks += 1))
    const taken = () => countTakenBytes(atServer)
    /** Lower and upper bound: the kernel may buffer more while its table is read. */
    const acknowledged = async () => {
      // Past the time for which the table is shared.
      msAhead += 1_000
      const before = taken()
      const unacknowledged = (await unacknowledgedBytes(atServer)) ?? 0
      return { least: before - unacknowledged, most: taken() - unacknowledged }
    }
    const look = async () => {
      ;(atServer as unknown as Internals)._onTimeout()
      atServer.setTimeout(0)
      // The server reads the same table.
      await unacknowledgedBytes(atServer)
    }
    for (let before; before !== taken();) {
      before = taken()
      await turns()
    }
    // Node notes how much is left to send.
    await look()
    return {
      /**
       * As at the client's time limit: does not count as a check if the kernel has buffered more
       * since the last.
       */
      look,
      looks: () => looks,
      /**
       * Reads at least this many bytes, until the client's kernel acknowledges some; it may wait
       * for more room.
       */
      take: async (bytes: number) => {
        const { most: before } = await acknowledged()
        do {
          const enough = received().length + bytes
          socket.resume()
          while (received().length < enough && open.has(path)) {
            await Promise.race([new Promise((resolve) => socket.once('data', resolve)), closed])
          }
          socket.pause()
        } while (open.has(path) && (await acknowledged()).least <= before)
      },
    }
  }

  /** Another client, which reads nothing, is cut off after the same number of checks. */
  async function looksAtBoth(
    app: PatientApp,
    reading: { look: () => Promise<void>; take: () => Promise<void> },
  ) {
    const other = await ask(app, '/large/other')
    while (app.open.has('/large/other')) {
      await reading.take()
      msAhead += 1_000
      await Promise.all([reading.look(), other.look()])
      await turns()
    }
  }

  async function turns(): Promise<void> {
    for (let turn = 0; turn < 5; turn += 1) await (await fetch(`${server.url}/turn`)).text()
  }

  test('a response continues while its client reads some of it now and then', async () => {
    const app = patientApp()
    server = await serve(app.app, 600_000)
    const { look, take } = await ask(app, '/large/read')
    // At each check, enough more for the kernel's buffers to take some.
    await looksAtBoth(app, { look, take: () => take(3 * MIB) })
    expect([...app.open]).toEqual(['/large/read'])
  })

  test('a slowly read response continues even while the kernel’s buffers are full', async () => {
    const app = patientApp()
    server = await serve(app.app, 600_000)
    const { look, looks, take } = await ask(app, '/large/slowly')
    // At some of these the kernel buffers more, so the client is not checked.
    while (looks() < 2) await looksAtBoth(app, { look, take: () => take(MIB / 2) })
    expect([...app.open]).toEqual(['/large/slowly'])
  })
})

/** Node's callback for an idle connection, and the bytes left to send. */
type Internals = { _onTimeout: () => void }

const MIB = 1024 * 1024
