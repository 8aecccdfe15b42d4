import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, expect, test } from '@jest/globals'
import Koa from 'koa'
import { serveHttp, type HttpServer } from '../../runtime/http-server.ts'
import { Load } from '../../runtime/load.ts'

const CONNECTIONS = 20

let server: HttpServer
const sockets: Socket[] = []

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await server.close()
})

async function serve(more: { secondMs?: number } = {}): Promise<void> {
  // No request is so small that it could carry it.
  const overload = { load: new Load({ mostRequests: 0 }), onRefused: () => undefined }
  const options = { app: new Koa(), host: '127.0.0.1', port: 0, graceMs: 500 }
  server = await serveHttp({ ...options, ...more, overload })
}

const RETRY_AFTER = /retry-after: (\d+)\r/i

/**
 * The `Retry-After`, in seconds, of each of `requests` on one connection, of which the next follows
 * `pauseMs` after the answer; and how many milliseconds after the first was sent each was answered.
 */
async function refused(requests: number, pauseMs: (retryAfter: number) => number) {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  sockets.push(socket)
  const retryAfter: number[] = []
  const answeredMs: number[] = []
  const begun = performance.now()
  while (retryAfter.length < requests) {
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}')
    const [answer] = (await once(socket, 'data')) as [Buffer]
    answeredMs.push(performance.now() - begun)
    const asked = Number(RETRY_AFTER.exec(answer.toString())?.[1])
    retryAfter.push(asked)
    await wait(pauseMs(asked))
  }
  return { retryAfter, answeredMs }
}

const onAll = <T>(act: () => Promise<T>) => Promise.all(Array.from({ length: CONNECTIONS }, act))

test('a client that does not wait is read twice as late each time, after 8 s at most', async () => {
  const secondMs = 100
  await serve({ secondMs })
  for (const { retryAfter, answeredMs } of await onAll(() => refused(3, () => 0))) {
    const [first = 0, second = 0, third] = retryAfter
    expect([1, 2, 3]).toContain(first)
    expect([second, third]).toEqual([2 * first, Math.min(4 * first, 8)])
    // From the first request on: an answer that this busy process takes up late does not shorten a rest.
    expect(answeredMs[1]).toBeGreaterThan(first * secondMs - 20)
    expect(answeredMs[2]).toBeGreaterThan((first + second) * secondMs - 20)
  }
})

test('a client that waits for as many seconds as it was asked to is not held longer', async () => {
  await serve()
  const [all, hasty] = await Promise.all([
    onAll(() => refused(2, (retryAfter) => retryAfter * 1_000 + 200)),
    refused(2, () => 0),
  ])
  expect(hasty.answeredMs[1]).toBeGreaterThan(hasty.retryAfter[0]! * 1_000 - 20)
  expect(Math.max(...all.flatMap(({ retryAfter }) => retryAfter))).toBe(3)
})
