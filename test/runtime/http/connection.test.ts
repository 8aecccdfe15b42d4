/** @node all */
import { Readable } from 'node:stream'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import Koa from 'koa'
import { serveHttp, type HttpServer } from '../../../runtime/http/http-server.ts'
import { eventually } from '../../eventually.ts'
import { rawConnection, type RawConnection } from '../../raw-connection.ts'

let server: HttpServer
let connection: RawConnection
let socket: RawConnection['socket']
/** The started requests, and a function to answer each. */
let begun: { readonly path: string; readonly answer: () => void }[]
/** The files opened by responses. */
let files: Readable[]
/** Paths of requests whose connections the server has closed. */
let clientsGone: string[]

beforeEach(async () => {
  begun = []
  files = []
  const gone: string[] = []
  clientsGone = gone
  const app = new Koa()
  app.silent = true
  app.use(async (ctx) => {
    if (ctx.path === '/turn') return void (ctx.body = '')
    if (ctx.path === '/file') {
      files.push(endless())
      return void (ctx.body = files.at(-1))
    }
    ctx.req.socket.setMaxListeners(0).once('close', () => gone.push(ctx.path))
    await new Promise<void>((answer) => begun.push({ path: ctx.path, answer }))
    const body = await ctx.req.toArray()
    ctx.body = `<${ctx.path} ${Buffer.concat(body as Buffer[]).length}>`
  })
  server = await serveHttp({ app, host: '127.0.0.1', port: 0, graceMs: 500 })
  connection = rawConnection(server.url)
  socket = connection.socket
})

afterEach(async () => {
  socket.destroy()
  await server.close()
})

function endless(): Readable {
  return new Readable({
    read() {
      this.push(Buffer.alloc(100_000))
    },
  })
}

const get = (path: string | number) => `GET /${path} HTTP/1.1\r\nHost: a\r\n\r\n`

/** Resolves after another client's series of requests. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 30; turn += 1) await (await fetch(`${server.url}/turn`)).text()
}

const answers = () =>
  [...connection.received().matchAll(/<\/(\w+) (\d+)>/g)].map(([, path]) => path)

test('pipelined requests start 16 at a time, the next as responses finish, and get their responses in order', async () => {
  socket.write(Array.from({ length: 100 }, (_, n) => get(n)).join(''))
  await eventually(() => begun.length >= 16)
  await turns()
  expect(begun.map(({ path }) => path)).toEqual(Array.from({ length: 16 }, (_, n) => `/${n}`))
  // The last request in progress first: its response cannot be sent before the others.
  begun[15]?.answer()
  await turns()
  expect(begun).toHaveLength(16)
  for (let n = 0; n < 100; n += 1) {
    await eventually(() => begun.length > n)
    expect(begun.length - n).toBeLessThanOrEqual(17)
    begun[n]?.answer()
  }
  await eventually(() => answers().length === 100)
  expect(answers()).toEqual(Array.from({ length: 100 }, (_, n) => String(n)))
})

test('pipelined requests are not read while 16 are being handled', async () => {
  const piece = get('x'.repeat(1_000)).repeat(1_000)
  let taken = 0
  const write = () => {
    if (taken === 20 || socket.destroyed) return
    socket.write(piece, () => {
      taken += 1
      write()
    })
  }
  const comesToRest = async () => {
    for (let before = -1; before !== taken; await turns()) before = taken
  }
  write()
  await eventually(() => begun.length === 16)
  await comesToRest()
  // Unread data waits with the client: the kernel's buffers hold some of its 20 MB.
  expect(taken).toBeLessThan(15)
  // As responses are sent, Node's server would resume reading by itself.
  for (const { answer } of begun.splice(0, 12)) answer()
  await eventually(() => connection.received().split('HTTP/1.1 200').length === 13)
  await comesToRest()
  expect(begun.length).toBeLessThanOrEqual(16)
  expect(taken).toBeLessThan(15)
})

test('pipelined requests may have bodies, the last of them still arriving', async () => {
  const post = (n: number) => `POST /${n} HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n`
  for (let n = 0; n < 20; n += 1) socket.write(post(n) + 'b'.repeat(n < 19 ? 100_000 : 10))
  for (let n = 0; n < 19; n += 1) {
    await eventually(() => begun.length > n)
    begun[n]?.answer()
  }
  await eventually(() => begun.length === 20)
  begun[19]?.answer()
  socket.write('b'.repeat(99_990))
  await eventually(() => answers().length === 20)
  expect(connection.received().match(/ 100000>/g)).toHaveLength(20)
  socket.write(get('after'))
  await eventually(() => begun.length === 21)
  begun[20]?.answer()
  await eventually(() => answers().at(-1) === 'after')
})

test('waiting pipelined requests are not handled once the client has gone', async () => {
  socket.write(Array.from({ length: 40 }, (_, n) => get(n)).join(''))
  await eventually(() => begun.length === 16)
  socket.destroy()
  await turns()
  // The server notices only when the first responses cannot be written.
  let answered = 0
  for (; !clientsGone.includes('/0'); answered += 1) {
    begun[answered]?.answer()
    await turns()
  }
  const { length } = begun
  expect(length).toBeLessThan(24)
  for (const { answer } of begun.slice(answered)) answer()
  await turns()
  expect(begun).toHaveLength(length)
})

test('a connection with thousands of pipelined requests is closed', async () => {
  socket.write('GET / HTTP/1.1\r\nHost:a\r\n\r\n'.repeat(20_000))
  await eventually(() => begun.length === 16)
  // Back-pressure slows a patient client; this one sent 5000 at a time.
  const text = 'GET / HTTP/1.1\r\nHost:a\r\n\r\n'.repeat(2_400)
  const pieces = Array.from({ length: 4 }, () => rawConnection(server.url, text).socket)
  await eventually(() => [socket, ...pieces].some(({ destroyed }) => destroyed))
  for (const one of [socket, ...pieces]) one.destroy()
  await connection.closed
  const { socket: other } = rawConnection(server.url, get('other'))
  await eventually(() => begun.some(({ path }) => path === '/other'))
  other.destroy()
})

test('every file opened for a response is closed when its client disconnects, even behind an unsent response', async () => {
  socket.write(get('first') + get('file').repeat(15))
  await eventually(() => files.length === 15)
  expect(files.some(({ destroyed }) => destroyed)).toBe(false)
  socket.destroy()
  await eventually(() => files.every(({ destroyed }) => destroyed))
})
