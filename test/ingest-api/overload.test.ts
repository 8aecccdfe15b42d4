import { connect, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { InFlight, type Holder } from '../../runtime/http/in-flight.ts'
import { eventually } from '../eventually.ts'
import { rawConnection } from '../raw-connection.ts'
import { expectRefused } from './expect-refused.ts'
import { startIngest, type Answer, type IngestHarness } from './ingest-harness.ts'

const minimal = { deviceId: 'tracker-1', latitude: 46.05, longitude: 14.5 }

let ingest: IngestHarness
let key: string
let sockets: Socket[]
/** Ends the waits of the log, which start while this is set. */
let letGo: (() => void) | undefined
let appending: number
let load: InFlight
let taken: Holder
const ROOM = 10_000_000
const TAKEN = ROOM - 100_000

beforeEach(async () => {
  sockets = []
  appending = 0
  let going = Promise.resolve()
  load = new InFlight({
    mostRequests: 3,
    mostOfAccount: 3,
    mostBytes: ROOM,
    mostOfKey: ROOM,
    keptForSmall: 0,
  })
  // Without the capacity needed only for a body that takes long to decompress.
  taken = { heldBytes: 0 }
  load.hold(taken, TAKEN)
  ingest = await startIngest({
    load,
    wrapLog: (log) => ({
      ready: () => log.ready(),
      append: async (events) => {
        appending += 1
        await going
        await log.append(events)
      },
    }),
  })
  key = (await ingest.createKey()).secret
  expect((await ingest.submit(minimal, { key })).status).toBe(200)
  appending = 0
  going = new Promise((resolve) => (letGo = resolve))
})

afterEach(async () => {
  letGo?.()
  for (const socket of sockets) socket.destroy()
  await ingest.close()
})

/** Three requests that wait for the log. */
async function fill(): Promise<{ answers: () => Promise<Answer[]> }> {
  const waiting = [1, 2, 3].map(() => ingest.submit(minimal, { key }))
  await eventually(() => appending === 3)
  return { answers: () => Promise.all(waiting) }
}

/** Starts a request whose body never ends. */
function beginBody(bytes: number, length: number, path = '/gps/submit', header = 'A: b'): Socket {
  const socket = connect(Number(new URL(ingest.url).port), '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write(
    `POST /api/v1${path} HTTP/1.1\r\nHost: a\r\n${header}\r\nAuthorization: Bearer ${key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${' '.repeat(bytes)}`,
  )
  sockets.push(socket)
  return socket
}

describe('requests beyond capacity', () => {
  test('a fully loaded server rejects further requests immediately, and accepts them when pending ones get their responses', async () => {
    const waiting = await fill()
    // The log has not responded yet.
    const refused = await ingest.submit(minimal, { key })
    expectRefused(refused, 503, 'SERVICE_UNAVAILABLE')
    expect(refused.headers.get('retry-after')).toMatch(/^[123]$/)
    expect(refused.headers.get('cache-control')).toBe('no-store')
    expectRefused(await ingest.batch({ reports: [minimal] }), 503, 'SERVICE_UNAVAILABLE')
    letGo?.()
    expect((await waiting.answers()).map(({ status }) => status)).toEqual([200, 200, 200])
    expect((await ingest.submit(minimal, { key })).status).toBe(200)
  })

  test('a fully loaded server asks the clients it rejects to retry at different times', async () => {
    await fill()
    const answers = await Promise.all(Array.from({ length: 40 }, () => ingest.submit(minimal)))
    const times = new Set(answers.map(({ headers }) => headers.get('retry-after')))
    expect([...times].sort()).toEqual(['1', '2', '3'])
  })

  test('a fully loaded server still answers health checks', async () => {
    await fill()
    expect((await ingest.request('/healthz')).status).toBe(200)
    const { text } = (await ingest.request('/metrics')).body as { text: string }
    expect(text).toMatch(/gps_reports_total\{outcome="SERVICE_UNAVAILABLE"\} 0/)
    await ingest.submit(minimal)
    await eventually(async () => {
      const page = (await ingest.request('/metrics')).body as { text: string }
      return /gps_reports_total\{outcome="SERVICE_UNAVAILABLE"\} 1/.test(page.text)
    })
  })

  test('a fully loaded server stops reading a rejected connection until its client may retry', async () => {
    await fill()
    const post = 'POST /api/v1/gps/submit HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}'
    const { socket, received } = rawConnection(ingest.url)
    sockets.push(socket)
    const answers = () => received().split('HTTP/1.1 503').length - 1
    const started = performance.now()
    socket.write(post)
    await eventually(() => answers() === 1)
    socket.write(post)
    await eventually(() => answers() === 2)
    const [, retryAfter] = /retry-after: (\d)/i.exec(received()) ?? []
    expect(performance.now() - started).toBeGreaterThan(Number(retryAfter) * 1_000 - 10)
    expect(received()).not.toContain('Connection: close')
  })
})

test('requests whose connection breaks no longer count as pending, including queued ones', async () => {
  const socket = beginBody(0, 1)
  const text = JSON.stringify(minimal)
  const post = `POST /api/v1/gps/submit HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`
  socket.write(' ' + post.repeat(3))
  await eventually(() => appending === 3)
  expect((await ingest.submit(minimal, { key })).status).toBe(503)
  socket.destroy()
  await eventually(async () => (await ingest.submit(minimal)).status === 401)
})

test('requests with slow bodies do not delay others', async () => {
  for (let n = 0; n < 10; n += 1) beginBody(5, 100)
  const waiting = await fill()
  letGo?.()
  expect((await waiting.answers()).map(({ status }) => status)).toEqual([200, 200, 200])
})

describe('bytes beyond capacity', () => {
  test('a server at its byte limit rejects further bodies, and accepts them again when there is room', async () => {
    const large = JSON.stringify({ reports: [minimal], note: 'n'.repeat(60_000) })
    const waiting = ingest.batch(large, { key })
    await eventually(() => appending === 1)
    expectRefused(await ingest.batch(large, { key }), 503, 'SERVICE_UNAVAILABLE')
    const packed = { key, headers: { 'Content-Encoding': 'gzip' } }
    expectRefused(await ingest.batch(gzipSync(large), packed), 503, 'SERVICE_UNAVAILABLE')
    const headers = { Authorization: `Bearer ${key}` }
    const points = JSON.stringify({ points: Array.from({ length: 50 }, () => [1, 2]) })
    const app = { method: 'POST', headers, body: points }
    expect((await ingest.request('/log/multiple/x/van', app)).status).toBe(503)
    const small = ingest.submit(minimal, { key })
    letGo?.()
    expect((await waiting).status).toBe(200)
    expect((await small).status).toBe(200)
    expect((await ingest.batch(large, { key })).status).toBe(200)
  })

  test('a server at its byte limit counts the received bytes of a body, and releases them with its connection', async () => {
    letGo?.()
    const half = beginBody(90_000, 200_000, '/gps/batch')
    await eventually(async () => {
      const body = { reports: [minimal], note: 'n'.repeat(15_000) }
      return (await ingest.batch(body, { key })).status === 503
    })
    half.destroy()
    await eventually(async () => {
      const body = { reports: [minimal], note: 'n'.repeat(80_000) }
      return (await ingest.batch(body, { key })).status === 200
    })
  })
})

/** Whether all room is free again, and nothing was released twice. */
function isFree(bytes: number): boolean {
  const holder = { heldBytes: 0 }
  if (!load.hold(holder, bytes)) return false
  const isTooMuch = load.hold(holder, 1)
  load.release(holder)
  if (isTooMuch) throw new Error('more room was given back than was taken')
  return true
}

describe('clients that disconnect', () => {
  test('the bytes of a request whose client disconnects while it is processed are released once', async () => {
    const large = JSON.stringify({ reports: [minimal], note: 'n'.repeat(60_000) })
    const socket = beginBody(0, large.length, '/gps/batch')
    socket.write(large)
    await eventually(() => appending === 1)
    socket.resetAndDestroy()
    await eventually(async () => (await ingest.submit(minimal)).status === 401)
    letGo?.()
    await eventually(() => isFree(ROOM - TAKEN))
  })

  test('the bytes of a request whose client disconnects while its body is decompressed are released once', async () => {
    load.release(taken)
    const begun = jest.spyOn(load, 'beginBody')
    const ended = jest.spyOn(load, 'endBody')
    const packed = gzipSync(' '.repeat(8 * 1024 * 1024))
    for (let n = 1; n <= 5; n += 1) {
      const socket = beginBody(0, packed.length, '/owntracks/points', 'Content-Encoding: gzip')
      await eventually(() => begun.mock.calls.length === n)
      socket.write(packed)
      await eventually(() => ended.mock.calls.length === n)
      socket.resetAndDestroy()
    }
    await eventually(() => isFree(ROOM))
  })

  test('the bytes of a request whose client disconnects while its body arrives are released once', async () => {
    beginBody(60_000, 90_000, '/gps/batch').resetAndDestroy()
    await eventually(() => isFree(ROOM - TAKEN))
  })
})
