import { afterEach, describe, expect, test } from '@jest/globals'
import { reportSender } from '../../simulate/report-sender.ts'
import { connectService } from '../../simulate/service.ts'
import { newTally } from '../../simulate/tally.ts'
import {
  acknowledged,
  jumpingTiming,
  refused,
  standInService,
  type Received,
  type Reply,
} from './stand-in-service.ts'

const never = new AbortController().signal
const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function sender(
  reply: (request: Received, index: number) => Reply | Promise<Reply>,
  { giveUpMs = 60_000, stop = never } = {},
) {
  const standIn = await standInService(reply)
  const { url, received } = standIn
  const service = connectService({ url, key: 'k', connections: 1, signal: never, timeoutMs: 500 })
  closers.push(
    () => standIn.close(),
    () => service.close(),
  )
  const timing = jumpingTiming()
  const tally = newTally()
  const send = reportSender({ service, giveUpMs, timing, tally, stop })
  return { send, received, timing, tally, standIn }
}

describe('sending a report', () => {
  test('it goes to the submit path with the key, and its acknowledgement is taken', async () => {
    const { send, received, tally } = await sender(() => acknowledged('R1'))
    expect(await send('{"a":1}')).toEqual({ kind: 'acknowledged', recordId: 'R1' })
    expect(received).toEqual([{ path: '/api/v1/gps/submit', key: 'Bearer k', body: '{"a":1}' }])
    expect(tally.answerMs.count).toBe(1)
  })

  test.each([429, 503])(
    'a %i is waited out as long as it says, then the same is sent',
    async (status) => {
      const { send, received, timing, tally } = await sender((_, index) =>
        index < 2 ? refused(status, 'LATER', { 'Retry-After': '7' }) : acknowledged('R1'),
      )
      expect(await send('{"a":1}')).toEqual({ kind: 'acknowledged', recordId: 'R1' })
      expect(received.map(({ body }) => body)).toEqual(['{"a":1}', '{"a":1}', '{"a":1}'])
      expect(timing.pauses).toEqual([7_250, 7_250])
      expect([...tally.repeated.values()]).toEqual([2])
      expect(tally.answerMs.count).toBe(3)
    },
  )

  test('a Retry-After may be a date', async () => {
    const date = new Date(Date.now() + 20_000).toUTCString()
    const { send, timing } = await sender((_, index) =>
      index === 0 ? refused(503, 'LATER', { 'Retry-After': date }) : acknowledged('R1'),
    )
    await send('{}')
    expect(timing.pauses[0]).toBeGreaterThan(17_000)
    expect(timing.pauses[0]).toBeLessThan(21_000)
  })

  test('a rate limit outlasts every patience', async () => {
    const { send, received } = await sender(
      (_, index) =>
        index < 10 ? refused(429, 'RATE_LIMITED', { 'Retry-After': '60' }) : acknowledged('R1'),
      { giveUpMs: 0 },
    )
    expect(await send('{}')).toMatchObject({ kind: 'acknowledged' })
    expect(received).toHaveLength(11)
  })

  test('a refusal is final and named by its identifier', async () => {
    const { send, received, timing } = await sender(() => refused(400, 'INVALID_PARAMS'))
    expect(await send('{}')).toEqual({ kind: 'refused', reason: 'INVALID_PARAMS' })
    expect(received).toHaveLength(1)
    expect(timing.pauses).toEqual([])
  })

  test('what somebody else answers is a refusal too, named by its status', async () => {
    const { send } = await sender((_, index) => ({ status: index === 0 ? 404 : 200 }))
    expect(await send('{}')).toEqual({ kind: 'refused', reason: 'HTTP 404' })
    expect(await send('{}')).toEqual({ kind: 'refused', reason: '200 without a recordId' })
  })

  test('a broken connection and a missing answer are tried again with growing pauses', async () => {
    const { send, received, timing, tally } = await sender((_, index) => {
      if (index === 1) return new Promise<Reply>(() => undefined)
      return index < 3 ? 'hang-up' : acknowledged('R1')
    })
    expect(await send('{"a":1}')).toMatchObject({ kind: 'acknowledged' })
    expect(received.map(({ body }) => body)).toEqual(Array(4).fill('{"a":1}'))
    expect(timing.pauses).toEqual([450, 650, 1050])
    expect(Object.fromEntries(tally.repeated)).toEqual({
      UND_ERR_SOCKET: 2,
      UND_ERR_HEADERS_TIMEOUT: 1,
    })
    expect(tally.answerMs.count).toBe(1)
  })

  test('a service that is away is given up after the time allowed; later reports try once', async () => {
    const { send, standIn, timing } = await sender(() => acknowledged('R1'), { giveUpMs: 30_000 })
    await standIn.close()
    expect(await send('1')).toEqual({ kind: 'given-up', reason: 'ECONNREFUSED' })
    const waited = timing.pauses.reduce((sum, ms) => sum + ms, 0)
    expect(waited).toBeGreaterThan(24_000)
    expect(waited).toBeLessThan(36_000)
    const pauses = timing.pauses.length
    expect(await send('2')).toEqual({ kind: 'given-up', reason: 'ECONNREFUSED' })
    expect(timing.pauses).toHaveLength(pauses)
  })

  test('an answer in between restores the patience', async () => {
    const { send, timing } = await sender(
      (_, index) => (index === 2 ? acknowledged('R1') : refused(500, 'SERVER_ERROR')),
      { giveUpMs: 2_000 },
    )
    expect(await send('1')).toMatchObject({ kind: 'acknowledged' })
    const pauses = timing.pauses.length
    expect(await send('2')).toEqual({ kind: 'given-up', reason: 'SERVER_ERROR' })
    expect(timing.pauses.slice(pauses)).toEqual([450, 650, 1050])
  })

  test('nothing is sent again once the run is stopped', async () => {
    const stop = new AbortController()
    const { send, received } = await sender(
      () => {
        stop.abort()
        return refused(429, 'RATE_LIMITED', { 'Retry-After': '1' })
      },
      { stop: stop.signal },
    )
    expect(await send('{}')).toEqual({ kind: 'unfinished' })
    expect(received).toHaveLength(1)
  })
})
