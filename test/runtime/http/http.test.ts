import { Readable } from 'node:stream'
import { expect, test, jest } from '@jest/globals'
import Koa from 'koa'
import { pino } from 'pino'
import { DependencyError, unavailable } from '../../../runtime/errors.ts'
import { floodLimit } from '../../../runtime/process/logger.ts'
import { Outage } from '../../../runtime/process/outage.ts'
import { serveHttp } from '../../../runtime/http/http-server.ts'
import {
  answerInEnvelope,
  identifyRequest,
  refusalLog,
  reportBrokenOff,
  type HttpState,
} from '../../../runtime/http/http.ts'
import { closeAfterwards } from '../../closing.ts'
import { eventually } from '../../eventually.ts'
import { fakeTimers } from '../../fake-timers.ts'
import { rawConnection } from '../../raw-connection.ts'

type Line = { refused: number; reason: string; err?: { message: string; stack: string } }

test('a flood of 503 responses is logged as one line a minute, with their number and no stack', () => {
  fakeTimers('setTimeout', 'clearTimeout')
  const lines: string[] = []
  const note = refusalLog({ logger: pino({}, { write: (line: string) => lines.push(line) }) })
  for (let time = 0; time < 1_000; time += 1) note(unavailable('the line is full'))
  jest.advanceTimersByTime(59_000)
  expect(lines).toHaveLength(1)
  jest.advanceTimersByTime(1_000)
  jest.useRealTimers()
  expect(lines).toHaveLength(2)
  const told = lines.map((line) => JSON.parse(line) as Line)
  expect(told.map(({ refused }) => refused)).toEqual([1, 999])
  expect(told[1]).toMatchObject({ reason: 'the line is full', msg: 'answered with 503' })
  for (const line of lines) expect(line.length).toBeLessThan(300)
})

test('the cause of a 503 is logged with it', () => {
  const lines: string[] = []
  const note = refusalLog({ logger: pino({}, { write: (line: string) => lines.push(line) }) })
  note(unavailable('send it again', new DependencyError('the store is away', { retriable: true })))
  const { err } = JSON.parse(lines[0] ?? '') as Line
  expect(err?.message).toBe('the store is away')
})

test('503 responses during an outage are not logged after its end', () => {
  fakeTimers('setTimeout', 'clearTimeout')
  const lines: string[] = []
  const logger = pino(
    { hooks: { logMethod: floodLimit() } },
    { write: (line: string) => lines.push(line) },
  )
  let now = 0
  const outage = new Outage({
    dependency: 'Kafka',
    variable: 'KAFKA_BROKERS',
    logger,
    now: () => now,
  })
  const away = outage.mark(new DependencyError('no response', { retriable: true }))
  const note = refusalLog({ logger })
  outage.failed(away)
  for (let time = 0; time < 3; time += 1) note(unavailable('not ready', away))
  now = 20_000
  outage.answered()
  now = 60_000
  jest.advanceTimersByTime(60_000)
  jest.useRealTimers()
  now = 63_000
  outage.answered()
  expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
    'Kafka is unavailable; retrying',
    'Kafka is available again',
  ])
})

test('a file opened for a client that has disconnected is closed, even behind an unsent response', async () => {
  const lines: string[] = []
  const logger = pino({}, { write: (line: string) => lines.push(line) })
  const files: Readable[] = []
  let waiting = 0
  let gone = 0
  let open: () => void = () => undefined
  const opened = new Promise<void>((resolve) => (open = resolve))
  const app = new Koa<HttpState>()
  app.use(identifyRequest())
  app.use(answerInEnvelope({ logger }))
  app.use(async (ctx) => {
    waiting += 1
    ctx.res.once('close', () => (gone += 1))
    await opened
    files.push(new Readable({ read() {} }))
    ctx.body = files.at(-1)
  })
  app.on('error', reportBrokenOff({ logger }))
  const server = await serveHttp({ app, host: '127.0.0.1', port: 0, graceMs: 500 })
  closeAfterwards(() => server.close())
  const { socket } = rawConnection(server.url, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(3))
  await eventually(() => waiting === 3)
  socket.destroy()
  await eventually(() => gone === 3)
  open()
  await eventually(() => files.length === 3 && files.every(({ destroyed }) => destroyed))
  expect(lines).toEqual([])
})
