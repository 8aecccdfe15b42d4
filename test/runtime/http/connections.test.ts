/** @node all */
import { connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { afterEach, describe, expect, test } from '@jest/globals'
import Koa from 'koa'
import { serveHttp, type HttpServer } from '../../../runtime/http/http-server.ts'
import type { ConnectionLimits } from '../../../runtime/http/connection.ts'
import { eventually } from '../../eventually.ts'

const MANY = '127.0.0.2'
const FEW = '127.0.0.3'

let server: HttpServer
const clients: Client[] = []
/** Ends the wait of each request of `/wait`. */
const waiting: (() => void)[] = []
/** The paths of requests whose connections are closed. */
let cutOff: string[] = []
/** The paths of all requests. */
let paths: string[] = []

/** The start of the received data, and the total number of bytes. */
type Client = {
  readonly socket: Socket
  readonly received: () => string
  readonly bytes: () => number
}

afterEach(async () => {
  for (const { socket } of clients.splice(0)) socket.destroy()
  for (const proceed of waiting.splice(0)) proceed()
  await server.close()
})

async function serve(limits: Partial<ConnectionLimits> & { idleMs?: number }): Promise<void> {
  const closed: string[] = []
  ;[cutOff, paths] = [closed, []]
  const app = new Koa()
  app.silent = true
  app.use(async (ctx) => {
    paths.push(ctx.path)
    if (ctx.path === '/wait') await new Promise<void>((resolve) => waiting.push(resolve))
    if (ctx.path === '/body') await ctx.req.toArray()
    ctx.req.socket.setMaxListeners(0).once('close', () => closed.push(ctx.path))
    if (ctx.path.startsWith('/large')) ctx.body = Buffer.alloc(LARGE_BYTES)
    else if (ctx.path.startsWith('/endless')) ctx.body = Readable.from(endless())
    else ctx.body = `served ${ctx.path}`
  })
  server = await serveHttp({ app, host: '127.0.0.1', port: 0, graceMs: 500, ...limits })
}

const MIB = 1024 * 1024
/** The connection's buffers hold a part of it. */
const LARGE_BYTES = 16 * MIB

function* endless() {
  for (;;) yield Buffer.alloc(64 * 1024)
}

const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`
const half = (headers = '') =>
  `POST /body HTTP/1.1\r\nHost: a\r\n${headers}Content-Length: 10\r\n\r\nhalf`

/** A client that reads its responses, unless `paused`. */
async function come(address: string, text = '', { paused = false } = {}): Promise<Client> {
  const socket = connect({ port: Number(new URL(server.url).port), localAddress: address })
  let received = ''
  let bytes = 0
  socket.on('error', () => undefined)
  socket.on('data', (chunk) => {
    bytes += chunk.length
    if (received.length < 1_000) received += chunk.toString('latin1')
  })
  if (paused) socket.pause()
  const client = { socket, received: () => received, bytes: () => bytes }
  clients.push(client)
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()))
  socket.write(text)
  return client
}

/** The number of requests received for a path. */
const begun = (path: string) => paths.filter((one) => one === path).length

/** Opens connections sequentially, each served or at least accepted before the next. */
async function crowd(count: number, address: string, text = get('/')): Promise<Client[]> {
  const crowd: Client[] = []
  for (let n = 0; n < count; n += 1) {
    const before = paths.length
    const client = await come(address, text)
    crowd.push(client)
    await eventually(() => (text === get('/') ? isServed(client) : paths.length > before))
  }
  return crowd
}

const isServed = ({ received }: Client) => received().includes('served /')
const open = (some: readonly Client[]) => some.map(({ socket }) => !socket.destroyed)
const isServedNow = async (address: string, text = get('/')) => {
  const client = await come(address, text)
  await eventually(() => isServed(client) || client.socket.destroyed)
  return isServed(client)
}

describe('connections that run out', () => {
  test('each new connection closes the longest idle one of the address with the most', async () => {
    await serve({ mostConnections: 10 })
    const few = await crowd(3, FEW)
    const many = await crowd(7, MANY)
    many[0]?.socket.write(get('/'))
    await eventually(() => many[0]?.received().split('served').length === 3)
    for (let n = 0; n < 2; n += 1) expect(await isServedNow(FEW)).toBe(true)
    await eventually(() => open(many).filter((isOpen) => !isOpen).length === 2)
    expect(open(few)).toEqual([true, true, true])
    // The first one was used since.
    expect(open(many)).toEqual([true, false, false, true, true, true, true])
  })

  test('a connection with a request in progress stays, however many its address has', async () => {
    await serve({ mostConnections: 10 })
    const busy = await crowd(8, MANY, get('/wait'))
    const idle = await crowd(2, MANY)
    for (let n = 0; n < 2; n += 1) expect(await isServedNow(FEW)).toBe(true)
    await eventually(() => open(idle).every((isOpen) => !isOpen))
    expect(await isServedNow(FEW)).toBe(true)
    for (const proceed of waiting.splice(0)) proceed()
    await eventually(() => busy.every(isServed))
  })

  test('a new connection is closed only while all others have requests in progress', async () => {
    await serve({ mostConnections: 4 })
    await crowd(4, MANY, get('/wait'))
    expect(await isServedNow(FEW)).toBe(false)
    waiting.splice(0, 1)[0]?.()
    await eventually(() => isServedNow(FEW))
  })

  test('a connection with half a request or an unread response is closed too, after idle ones', async () => {
    await serve({ mostConnections: 6, mostWaitingBytes: Infinity })
    const halves = await crowd(2, MANY, half())
    const unread = [await come(MANY, get('/large'), { paused: true })]
    const idle = await crowd(3, MANY)
    const gone = (some: readonly Client[]) => open(some).filter((isOpen) => !isOpen).length
    // Paused clients do not notice, but the server has none of their connections left.
    for (const left of [2, 1, 0]) {
      expect(await isServedNow(FEW)).toBe(true)
      await eventually(() => gone(idle) === 3 - left)
    }
    expect(gone([...halves, ...unread])).toBe(0)
    await crowd(1, MANY)
    await eventually(() => gone(halves) === 1)
  })

  test("behind a trusted proxy, a client's own connections are closed first", async () => {
    await serve({ mostConnections: 10, trustProxy: 1 })
    const forwarded = (client: string) => `X-Forwarded-For: 192.0.2.9, ${client}\r\n`
    const few = await crowd(3, MANY, get('/', forwarded('198.51.100.7:4711')))
    const many = await crowd(7, MANY, half(forwarded('203.0.113.5')))
    expect(await isServedNow(MANY, get('/', forwarded('198.51.100.7:4712')))).toBe(true)
    await eventually(() => open(many).includes(false))
    expect(open(few)).toEqual([true, true, true])
  })
})

describe('connections without a request', () => {
  test.each([
    ['nothing', ''],
    ['line breaks', '\r\n'],
  ])('a connection on which %s follows a response is closed', async (_what, drip) => {
    await serve({ idleMs: 500, ...QUICK })
    const client = await come(FEW, get('/'))
    const dripping = setInterval(() => client.socket.write(drip), 20)
    await eventually(() => client.socket.destroyed)
    clearInterval(dripping)
    expect(isServed(client)).toBe(true)
  })

  test.each([
    ['nothing', ''],
    ['line breaks', '\r\n'],
  ])('a connection on which only %s come is closed with a 408', async (_what, drip) => {
    await serve({ idleMs: 500, ...QUICK })
    const client = await come(FEW)
    const dripping = setInterval(() => client.socket.write(drip), 20)
    await eventually(() => client.socket.destroyed)
    clearInterval(dripping)
    expect(client.received()).toMatch(/^HTTP\/1.1 408 /)
  })

  test('a connection with a request in progress is not closed as idle', async () => {
    await serve({ idleMs: 200, ...QUICK })
    const working = await come(FEW, get('/wait'))
    await eventually(() => begun('/wait') === 1)
    const idle = await come(FEW, get('/'))
    // Node considers it in use.
    const dripping = setInterval(() => idle.socket.write('\r\n'), 20)
    await eventually(() => idle.socket.destroyed)
    clearInterval(dripping)
    for (const proceed of waiting.splice(0)) proceed()
    await eventually(() => isServed(working))
  })

  const QUICK = { arrivesWithinMs: 500 }
})

describe('memory that waits for clients', () => {
  test('the client with the most unread responses loses its connections', async () => {
    await serve({ mostWaitingBytes: 3 * LARGE_BYTES })
    const own = await come(FEW, get('/large/few'), { paused: true })
    for (let n = 1; cutOff.length === 0; n += 1) {
      expect(n).toBeLessThan(10)
      await come(MANY, get('/large/many'), { paused: true })
      await eventually(() => begun('/large/many') === n)
    }
    own.socket.resume()
    await eventually(() => own.bytes() > LARGE_BYTES)
    expect(new Set(cutOff)).toEqual(new Set(['/large/many']))
  })

  test('a client with many unread streamed responses loses its connections, too', async () => {
    await serve({ mostWaitingBytes: MIB / 2 })
    const own = await come(FEW, get('/endless/few'), { paused: true })
    for (let n = 0; n < 12; n += 1) await come(MANY, get('/endless/many'), { paused: true })
    await eventually(() => cutOff.length > 0)
    expect(new Set(cutOff)).toEqual(new Set(['/endless/many']))
    own.socket.destroy()
  })

  test('aborted responses release their memory once', async () => {
    await serve({ mostWaitingBytes: 3 * LARGE_BYTES })
    for (let n = 1; n <= 16; n += 1) {
      await come(MANY, get('/large/many'), { paused: true })
      await eventually(() => begun('/large/many') === n)
      // Each client's buffers hold a part of the unread data.
      await eventually(() => n - cutOff.length <= 6)
    }
  })

  test('reading responses makes room for as many more', async () => {
    await serve({ mostWaitingBytes: 3 * LARGE_BYTES })
    const { socket, bytes } = await come(MANY)
    for (let n = 1; n <= 4; n += 1) {
      socket.pause().write(get('/large/many').repeat(2))
      await eventually(() => begun('/large/many') === 2 * n)
      socket.resume()
      await eventually(() => bytes() > 2 * n * LARGE_BYTES)
    }
    expect(cutOff).toEqual([])
  })
})
