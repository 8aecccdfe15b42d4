/** @node all */
import { describe, expect, test } from '@jest/globals'
import { gpsClient, type Report } from '../../client/client.ts'
import {
  acknowledged,
  jumpingTiming,
  refused,
  standInService,
  type Received,
  type Reply,
} from './stand-in-service.ts'

const place = { deviceId: 'van 7', latitude: 48.2, longitude: 16.3 }
const report = { ...place, timestamp: '2026-01-31T12:30:00Z' }
const RECEIVED_AT = '2026-01-31T12:30:01.000Z'
const accepted = { kind: 'accepted', recordId: 'R1', receivedAt: RECEIVED_AT }

async function client(
  reply: (request: Received, index: number) => Reply | Promise<Reply>,
  options: Partial<Parameters<typeof gpsClient>[0]> = {},
) {
  const standIn = await standInService(reply)
  const { url, received } = standIn
  const timing = jumpingTiming()
  const seen = { answers: 0, repeated: [] as string[] }
  const observe = {
    answered: () => (seen.answers += 1),
    repeated: (reason: string) => seen.repeated.push(reason),
  }
  const sender = gpsClient({ url, key: 'k', timing, timeoutMs: 2_000, observe, ...options })
  const submit = (sent: Report = report) => sender.submit(sent)
  return { sender, submit, received, timing, seen, standIn }
}

test('a report is posted to the submit path with the key, and the acknowledgement is returned', async () => {
  const { submit, received, seen } = await client(() => acknowledged('R1'))
  expect(await submit()).toEqual(accepted)
  const body = JSON.stringify(report)
  expect(received).toEqual([{ path: '/api/v1/gps/submit', key: 'Bearer k', body }])
  expect(seen).toEqual({ answers: 1, repeated: [] })
})

test('a report without a timestamp keeps its unique Idempotency-Key in every retry', async () => {
  const { submit, received } = await client((_, index) =>
    index % 3 < 2 ? 'hang-up' : acknowledged('R1'),
  )
  await submit(place)
  await submit(place)
  const keys = received.map(({ idempotencyKey }) => idempotencyKey)
  expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/)
  expect(keys).toEqual([...Array<unknown>(3).fill(keys[0]), ...Array<unknown>(3).fill(keys[3])])
  expect(keys[3]).not.toBe(keys[0])
})

test.each([429, 503])(
  'after a %i, the client waits for Retry-After, then resends the same request',
  async (status) => {
    const { submit, received, timing, seen } = await client((_, index) =>
      index < 2 ? refused(status, 'LATER', { 'Retry-After': '7' }) : acknowledged('R1'),
    )
    expect(await submit()).toEqual(accepted)
    expect(new Set(received.map(({ body }) => body))).toEqual(new Set([JSON.stringify(report)]))
    expect(timing.pauses).toEqual([7_250, 7_250])
    expect(seen.answers).toBe(3)
    expect(seen.repeated).toHaveLength(2)
  },
)

test('a Retry-After may be a date', async () => {
  const date = new Date(Date.now() + 20_000).toUTCString()
  const { submit, timing } = await client((_, index) =>
    index === 0 ? refused(503, 'LATER', { 'Retry-After': date }) : acknowledged('R1'),
  )
  await submit()
  expect(timing.pauses[0]).toBeGreaterThan(17_000)
  expect(timing.pauses[0]).toBeLessThan(21_000)
})

test('a Retry-After of more than an hour counts as an hour', async () => {
  const { submit, timing } = await client((_, index) =>
    index === 0 ? refused(503, 'LATER', { 'Retry-After': '9999999' }) : acknowledged('R1'),
  )
  await submit()
  expect(timing.pauses).toEqual([3_600_250])
})

test('the client waits for a rate limit beyond any time limit', async () => {
  const { submit, received } = await client(
    (_, index) =>
      index < 10 ? refused(429, 'RATE_LIMITED', { 'Retry-After': '60' }) : acknowledged('R1'),
    { giveUpAfterMs: 0 },
  )
  expect(await submit()).toEqual(accepted)
  expect(received).toHaveLength(11)
})

test('a rejection is final and carries its error identifier', async () => {
  const { submit, received, timing } = await client(() => refused(400, 'INVALID_PARAMS'))
  expect(await submit()).toMatchObject({ kind: 'refused', error: 'INVALID_PARAMS' })
  expect(received).toHaveLength(1)
  expect(timing.pauses).toEqual([])
})

test('a response from a foreign server is a rejection too, with its status', async () => {
  const { submit } = await client((_, index) => ({ status: index === 0 ? 404 : 200 }))
  expect(await submit()).toMatchObject({ kind: 'refused', error: 'HTTP 404' })
  expect(await submit()).toEqual({
    kind: 'refused',
    error: '200 without a recordId',
    message: 'the response did not come from the service: is the address right?',
  })
})

test('redirects are not followed: they would turn the report into a GET', async () => {
  const { submit, received } = await client(() => ({ status: 302, headers: { Location: '/in' } }))
  expect(await submit()).toMatchObject({ kind: 'refused', error: 'HTTP 302' })
  expect(received).toHaveLength(1)
})

test('broken connections and missing responses are retried with increasing pauses', async () => {
  const { submit, received, timing, seen } = await client((_, index) => {
    if (index === 1) return new Promise<Reply>(() => undefined)
    return index < 3 ? 'hang-up' : acknowledged('R1')
  })
  expect(await submit()).toEqual(accepted)
  expect(received).toHaveLength(4)
  expect(timing.pauses).toEqual([450, 650, 1050])
  expect(seen).toEqual({ answers: 1, repeated: ['UND_ERR_SOCKET', 'TIMEOUT', 'UND_ERR_SOCKET'] })
})

test('the client gives up on an absent service after the time limit; later reports are tried once', async () => {
  const { submit, standIn, timing } = await client(() => acknowledged('R1'), {
    giveUpAfterMs: 30_000,
  })
  await standIn.close()
  expect(await submit()).toEqual({ kind: 'given-up', reason: 'ECONNREFUSED' })
  const waited = timing.pauses.reduce((sum, ms) => sum + ms, 0)
  expect(waited).toBeGreaterThan(24_000)
  expect(waited).toBeLessThan(36_000)
  const pauses = timing.pauses.length
  expect(await submit()).toEqual({ kind: 'given-up', reason: 'ECONNREFUSED' })
  expect(timing.pauses).toHaveLength(pauses)
})

test('any response restarts the time limit', async () => {
  const { submit, timing } = await client(
    (_, index) => (index === 2 ? acknowledged('R1') : refused(500, 'SERVER_ERROR')),
    { giveUpAfterMs: 2_000 },
  )
  expect(await submit()).toEqual(accepted)
  const pauses = timing.pauses.length
  expect(await submit()).toEqual({ kind: 'given-up', reason: 'SERVER_ERROR' })
  expect(timing.pauses.slice(pauses)).toEqual([450, 650, 1050])
})

test('nothing is resent once the signal is aborted', async () => {
  const stop = new AbortController()
  const { sender, received } = await client(() => {
    stop.abort()
    return refused(429, 'RATE_LIMITED', { 'Retry-After': '1' })
  })
  expect(await sender.submit(report, { signal: stop.signal })).toEqual({ kind: 'stopped' })
  expect(await sender.submit(report, { signal: stop.signal })).toEqual({ kind: 'stopped' })
  expect(received).toHaveLength(1)
})

describe('sending a batch', () => {
  const reports = [0, 1, 2].map((n) => ({ ...report, latitude: n }))
  const results = (...each: object[]): Reply => ({
    status: 200,
    data: { success: true, data: { results: each } },
  })
  const yes = { recordId: 'R1', receivedAt: RECEIVED_AT }
  const no = (error: string) => ({ error, message: 'because' })

  test('each report has its outcome, and only reports that may be accepted later are resent', async () => {
    const { sender, received, seen } = await client((_, index) =>
      index === 0
        ? results(no('RATE_LIMITED'), no('INVALID_PARAMS'), no('SERVICE_UNAVAILABLE'))
        : results(yes, yes),
    )
    expect(await sender.submitBatch(reports)).toEqual([
      accepted,
      { kind: 'refused', error: 'INVALID_PARAMS', message: 'because' },
      accepted,
    ])
    expect(received.map(({ path }) => path)).toEqual(Array(2).fill('/api/v1/gps/batch'))
    expect(received.map(({ body }) => JSON.parse(body) as unknown)).toEqual([
      { reports },
      { reports: [reports[0], reports[2]] },
    ])
    expect(seen.repeated).toEqual(['RATE_LIMITED'])
  })

  test("the batch's outcome applies to each report without an individual outcome", async () => {
    const { sender } = await client((_, index) =>
      index === 0 ? results(yes, yes, no('SERVICE_UNAVAILABLE')) : refused(403, 'FORBIDDEN'),
    )
    const outcomes = await sender.submitBatch(reports)
    expect(outcomes).toMatchObject([accepted, accepted, { kind: 'refused', error: 'FORBIDDEN' }])
  })

  test('the client gives up on the unsent part of a batch as on any other report', async () => {
    const { sender } = await client(
      (_, index) => results(...(index === 0 ? [yes, yes] : []), no('SERVICE_UNAVAILABLE')),
      { giveUpAfterMs: 0 },
    )
    expect((await sender.submitBatch(reports))[2]).toEqual({
      kind: 'given-up',
      reason: 'SERVICE_UNAVAILABLE',
    })
  })
})
