import { afterEach, expect, test } from '@jest/globals'
import Koa from 'koa'
import type { Rests } from '../../../runtime/http/connection.ts'
import { serveHttp, type HttpServer } from '../../../runtime/http/http-server.ts'
import { InFlight } from '../../../runtime/http/in-flight.ts'
import { eventually } from '../../eventually.ts'
import { rawConnection } from '../../raw-connection.ts'

const REQUEST = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}'

let server: HttpServer
const opened: { destroy(): void }[] = []

afterEach(async () => {
  for (const socket of opened.splice(0)) socket.destroy()
  await server.close()
})

async function serve(wait?: Rests): Promise<void> {
  // No request is small enough to fit.
  const load = new InFlight({ mostRequests: 0 })
  const overload = { inFlight: load, onRefused: () => undefined }
  const options = { app: new Koa(), host: '127.0.0.1', port: 0, graceMs: 500 }
  server = await serveHttp({ ...options, ...(wait !== undefined && { wait }), overload })
}

/** Serves rejections whose rests end on the test's command. */
async function serveResting() {
  const rests: { readonly seconds: number; readonly end: () => void }[] = []
  await serve((seconds, end) => rests.push({ seconds, end }))
  return {
    rests,
    /** From a timer, as in production. */
    endRest: async () => {
      const { end } = rests.at(-1)!
      await new Promise<void>((resolve) => setTimeout(() => resolve(end()), 0))
    },
  }
}

/** A connection, with the `Retry-After` seconds of its responses so far. */
function client() {
  const { socket, received } = rawConnection(server.url)
  opened.push(socket)
  return {
    send: () => new Promise((sent) => socket.write(REQUEST, sent)),
    retryAfter: () => [...received().matchAll(/retry-after: (\d+)\r/gi)].map(([, n]) => Number(n)),
  }
}

/** Resolves after a series of other requests, so that everything sent earlier has arrived. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 30; turn += 1) await (await fetch(server.url)).text()
}

test('a client that does not wait rests twice as long each time, at most 8 s', async () => {
  const { rests, endRest } = await serveResting()
  const { send, retryAfter } = client()
  for (let requests = 1; requests <= 5; requests += 1) {
    await send()
    if (requests > 1) {
      await turns()
      expect(retryAfter()).toHaveLength(requests - 1)
      await endRest()
    }
    await eventually(() => retryAfter().length === requests)
  }
  const [first = 0, ...others] = retryAfter()
  expect([1, 2, 3]).toContain(first)
  expect(others).toEqual([2, 4, 8, 16].map((times) => Math.min(times * first, 8)))
  expect(rests.map(({ seconds }) => seconds)).toEqual([first, ...others])
})

test('a client that waits as long as `Retry-After` asks is not delayed further', async () => {
  const { endRest } = await serveResting()
  const { send, retryAfter } = client()
  for (let requests = 1; requests <= 40; requests += 1) {
    await send()
    await eventually(() => retryAfter().length === requests)
    await endRest()
    await new Promise(setImmediate)
  }
  expect(new Set(retryAfter())).toEqual(new Set([1, 2, 3]))
})

test('a connection rests for the seconds in its response', async () => {
  await serve()
  const { send, retryAfter } = client()
  const begun = performance.now()
  await send()
  await eventually(() => retryAfter().length === 1)
  await send()
  await eventually(() => retryAfter().length === 2)
  // Timers may be a millisecond early.
  expect(performance.now() - begun).toBeGreaterThan(retryAfter()[0]! * 1_000 - 20)
})
