/** @node all */
import { IncomingMessage } from 'node:http'
import { connect, Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { describe, expect, jest, test } from '@jest/globals'
import { readBody } from '../../../ingest-api/admission/body.ts'
import { SenderRequest } from '../../../ingest-api/admission/sender-request.ts'
import { HttpAnswer, InFlight } from '../../../runtime/http/in-flight.ts'
import { createLogger } from '../../../runtime/process/logger.ts'
import type { Store } from '../../../store/store.ts'
import { eventually } from '../../eventually.ts'
import { fakeTimers } from '../../fake-timers.ts'
import { expectRefused } from '../expect-refused.ts'
import { ingestForAllTests, startIngest, type IngestHarness } from '../ingest-harness.ts'

const minimal = { deviceId: 'tracker-1', latitude: 46.05, longitude: 14.5 }

let ingest: IngestHarness
let key: string
ingestForAllTests((given) => ({ ingest, key } = given))

describe('size and type of the body', () => {
  test('16 KiB are accepted and one byte more is not', async () => {
    const padded = (bytes: number) => {
      const text = JSON.stringify({ ...minimal, note: '' })
      return text.replace('""', `"${'n'.repeat(bytes - text.length)}"`)
    }
    expect((await ingest.submit(padded(16 * 1024), { key })).status).toBe(200)
    const before = (await ingest.logged()).length
    const tooLarge = await ingest.submit(padded(16 * 1024 + 1), { key })
    expectRefused(tooLarge, 413, 'PAYLOAD_TOO_LARGE')
    expect((await ingest.logged()).length).toBe(before)
  })

  test('a body of undeclared length is rejected as soon as it is too large', async () => {
    const endless = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(8 * 1024)),
    })
    const answer = await ingest.request('/api/v1/gps/submit', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` },
      body: endless,
      duplex: 'half',
    })
    expectRefused(answer, 413, 'PAYLOAD_TOO_LARGE')
    expect(answer.headers.get('connection')).toBe('close')
  })

  test.each([
    ['a form', { 'Content-Type': 'application/x-www-form-urlencoded' }],
    ['plain text', { 'Content-Type': 'text/plain' }],
    ['an unknown encoding', { 'Content-Encoding': 'zstd' }],
  ])('%s is not JSON', async (_what, headers) => {
    const answer = await ingest.submit(minimal, { key, headers })
    expectRefused(answer, 415, 'UNSUPPORTED_MEDIA_TYPE')
  })
})

test('a client that disconnects in the middle of its body causes one debug line', async () => {
  const lines: unknown[][] = []
  const logger = createLogger({ level: 'silent', name: 'test' })
  logger.debug = (...line: unknown[]) => void lines.push(line)
  const spied = jest.spyOn(console, 'error').mockImplementation(() => undefined)
  const load = new InFlight()
  const begun = jest.spyOn(load, 'beginBody')
  const own = await startIngest({ logger, load })
  const { secret } = await own.createKey()
  const socket = connect(Number(new URL(own.url).port), '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write(
    `POST /api/v1/gps/submit HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${secret}\r\n` +
      'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"deviceId"',
  )
  await eventually(() => begun.mock.calls.length === 1)
  socket.resetAndDestroy()
  await eventually(() => lines.length > 0)
  await own.close()
  expect(lines).toEqual([[{ requestId: expect.any(String) as unknown }, 'client disconnected']])
  expect(spied).not.toHaveBeenCalled()
  spied.mockRestore()
})

test('a body cut off during the look-up of its key ends its request', async () => {
  let asked = 0
  let letGo = () => {}
  const going = new Promise<void>((resolve) => (letGo = resolve))
  const wrapKeys = (store: Store) => ({
    findGrant: async (hash: Uint8Array) => {
      asked += 1
      await going
      return store.findGrant(hash)
    },
  })
  const own = await startIngest({ wrapKeys })
  const requests = () => own.metrics.httpRequests.get()
  const { secret } = await own.createKey()
  const gone: Promise<unknown>[] = []
  for (const path of ['/api/v1/gps/submit', '/pub']) {
    const socket = connect(Number(new URL(own.url).port), '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${secret}\r\n` +
        'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"deviceId"',
    )
    gone.push(eventually(() => asked > 0 && socket.resetAndDestroy()))
  }
  await Promise.all(gone)
  // By the time that another one gets its response, the server knows that they have gone.
  expect((await own.request('/healthz')).status).toBe(200)
  letGo()
  await eventually(async () => {
    const routes = (await requests()).values.map(({ labels }) => labels.route)
    return routes.includes('/api/v1/gps/submit') && routes.includes('/pub')
  })
  await own.close()
})

test('the time in which a client sends its body is added to the deadline of its request', async () => {
  fakeTimers('performance')
  const http = Object.assign(new PassThrough(), { headers: {}, url: '/', complete: false })
  const answer = new HttpAnswer(new IncomingMessage(new Socket()))
  const target = { path: '/', query: '' }
  const request = new SenderRequest(http as unknown as IncomingMessage, target, answer)
  const { deadline } = request
  const body = readBody(request, 1024)
  http.write('{"a":')
  jest.advanceTimersByTime(10_000)
  http.end('1}')
  expect(String(await body)).toBe('{"a":1}')
  expect(request.deadline - deadline).toBe(10_000)
  jest.useRealTimers()
})
