/** @node all */
import { createServer, type Server } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import Koa from 'koa'
import { serveHttp, type HttpServer } from '../../../runtime/http/http-server.ts'
import { listen } from '../../../runtime/http/listen.ts'
import { eventually } from '../../eventually.ts'

const CROWD = 200

let sockets: Socket[]

beforeEach(() => {
  sockets = []
})

afterEach(() => {
  for (const socket of sockets) socket.destroy()
})

function come(port: number, clients: number): void {
  for (let n = 0; n < clients; n += 1) {
    const socket = connect(port, '127.0.0.1')
    // An unread connection does not show that it has been closed.
    socket.on('error', () => undefined).resume()
    sockets.push(socket)
  }
}

/** The event-loop turns in which a server accepts many concurrent connections. */
async function turnsToAccept(handles: number): Promise<number> {
  const server: Server = createServer()
  const further = await listen(server, { host: '127.0.0.1', port: 0, handles })
  expect(further).toHaveLength(handles - 1)
  const { port } = server.address() as AddressInfo
  let accepted = 0
  server.on('connection', () => (accepted += 1))
  come(port, CROWD)
  let turns = 0
  while (accepted < CROWD) {
    const before = accepted
    await new Promise((resolve) => setImmediate(resolve))
    // In other turns none has arrived yet.
    if (accepted > before) turns += 1
  }
  for (const one of [server, ...further]) one.close()
  return turns
}

test('more handles accept more connections in a turn', async () => {
  // If this no longer holds, one handle is enough.
  expect(await turnsToAccept(1)).toBeGreaterThanOrEqual(CROWD)
  expect(await turnsToAccept(20)).toBeLessThan(CROWD / 4)
})

describe('a server with many handles', () => {
  let server: HttpServer
  let port: number

  beforeEach(async () => {
    const app = new Koa()
    app.use((ctx) => void (ctx.body = 'served'))
    const options = { host: '127.0.0.1', port: 0, graceMs: 600_000 }
    server = await serveHttp({ app, ...options, handles: 20, mostConnections: 50 })
    port = Number(new URL(server.url).port)
  })

  afterEach(() => server.close())

  test('a server with many handles answers on all of its connections, and then closes', async () => {
    let received = ''
    come(port, 50)
    for (const socket of sockets) {
      socket.on('data', (chunk) => (received += chunk.toString()))
      socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    }
    await eventually(() => received.split('served').length === 51)
    // The close does not wait for idle connections: that would exceed a test's time limit.
    await server.close()
    // The process that opened the handles may close its own a moment later.
    const again = await eventually(() =>
      serveHttp({ app: new Koa(), host: '127.0.0.1', port, graceMs: 500 }),
    )
    await again.close()
  })

  test('a server with many handles closes connections beyond its maximum, and accepts others when some end', async () => {
    let ended = 0
    come(port, 60)
    for (const socket of sockets) socket.on('close', () => (ended += 1))
    await eventually(() => ended === 10)
    for (const socket of sockets) socket.destroy()
    // Node's fetch may wait forever on a connection that is closed before it is used.
    const served = async () => (await fetch(server.url, { signal: AbortSignal.timeout(500) })).ok
    await eventually(served)
  })
})
