/** @node all */
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { acceptReports, type Accept } from '../../../ingest-api/accept/accept.ts'
import type { SubmittedReport } from '../../../ingest-api/accept/outcome.ts'
import { DeviceLimit, KeyLimit } from '../../../ingest-api/accept/limits.ts'
import type { RefusedReport } from '../../../ingest-api/accept/rejections.ts'
import { ReportMetrics } from '../../../ingest-api/accept/report-metrics.ts'
import { DependencyError } from '../../../runtime/errors.ts'
import { createMetrics, type Metrics } from '../../../runtime/process/metrics.ts'
import { memoryRateCounters } from '../../../runtime/limits/rate-counters.ts'
import { eventIdOf, type AppendedEvent } from '../../../schemas/events/appended-event.ts'
import type { KeyGrant } from '../../../store/keys.ts'
import { fakeTimers } from '../../fake-timers.ts'
import { T0 } from '../../samples.ts'

const grant: KeyGrant = {
  key: {
    id: 'key-1',
    accountId: 'acc-1',
    name: 'gateway',
    hint: 'gps_',
    scopes: ['positions:write'],
    createdAt: T0,
    deviceIds: ['van-*', 'tug'],
  },
  accountSuspended: false,
  disabledDevices: new Set(['van-stolen']),
}
/** A request that may wait for a minute. */
const patient = (app?: string) => ({ app, deadline: performance.now() + 60_000 })

let appends: (readonly AppendedEvent[])[]
let write: () => Promise<void>
let offered: RefusedReport[]
let metrics: Metrics
let acceptAll: Accept

const openCounters = memoryRateCounters
/** The outcome of each report. */
const accept = async (...args: Parameters<Accept>) => (await acceptAll(...args)).outcomes

beforeEach(() => {
  appends = []
  offered = []
  write = async () => undefined
  metrics = createMetrics()
  const offer = (refusal: RefusedReport) => {
    offered.push(refusal)
    return { written: Promise.resolve(true) }
  }
  const reportMetrics = new ReportMetrics({ metrics, rejections: { offer } })
  acceptAll = acceptReports({
    eventLog: {
      append: async (events) => {
        appends.push(events)
        await write()
      },
    },
    keyLimit: new KeyLimit({ limit: { points: 600, seconds: 60 }, openCounters }),
    deviceLimit: new DeviceLimit({ limit: { points: 3, seconds: 60 }, openCounters }),
    metrics: reportMetrics,
    clock: { now: () => T0 },
  })
})

afterEach(() => metrics.registry.clear())

function van(number: number, more: object = {}): SubmittedReport {
  return { json: { deviceId: `van-${number}`, latitude: 54.3, longitude: 10.1, ...more } }
}

/** The number of reports by outcome, without zeros. */
async function counted(): Promise<Record<string, number>> {
  const { values } = await metrics.reports.get()
  const some = values.filter(({ value }) => value > 0)
  return Object.fromEntries(some.map(({ labels, value }) => [String(labels.outcome), value]))
}

describe('reports of one request', () => {
  test('reports of one request are validated separately, and the valid ones are written together in order', async () => {
    const reports = [
      van(1),
      van(2, { latitude: 91, battery: 5 }),
      { json: { deviceId: 'bus', latitude: 1, longitude: 2 } },
      { json: { deviceId: 'van-stolen', latitude: 1, longitude: 2 } },
      { json: 'no report' },
      { ...van(3), faults: [{ field: 'Idempotency-Key', message: 'no such key' }] },
      { json: { deviceId: 'tug', latitude: 1, longitude: 2 } },
    ]
    const outcomes = await accept(grant, reports, patient())
    expect(appends.map((events) => events.map(({ deviceId }) => deviceId))).toEqual([
      ['van-1', 'tug'],
    ])
    const [first, last] = (appends[0] ?? []).map(eventIdOf)
    const forbidden = { kind: 'refused', error: 'FORBIDDEN' }
    const faulty = { kind: 'refused', error: 'INVALID_PARAMS', retriable: false }
    expect(outcomes).toEqual([
      { kind: 'accepted', recordId: first, receivedAt: T0 },
      {
        ...faulty,
        message: expect.stringMatching(/latitude.*battery/) as unknown,
        details: [
          { field: 'latitude', message: expect.any(String) as unknown },
          { field: 'battery', message: expect.any(String) as unknown },
        ],
      },
      { ...forbidden, message: 'this API key may not report for this deviceId', retriable: true },
      { ...forbidden, message: 'this device is disabled', retriable: false },
      { ...faulty, message: expect.any(String) as unknown, details: expect.any(Array) as unknown },
      {
        ...faulty,
        message: 'no such key',
        details: [{ field: 'Idempotency-Key', message: 'no such key' }],
      },
      { kind: 'accepted', recordId: last, receivedAt: T0 },
    ])
    expect(await counted()).toEqual({ accepted: 2, INVALID_PARAMS: 3, FORBIDDEN: 2 })
  })

  test('events of one request are appended by min(timestamp, receivedAt), heartbeats last, equal times as sent', async () => {
    const at = (seconds: number, name: number) =>
      van(name, { timestamp: new Date(T0 + seconds * 1000).toISOString() })
    const reports: SubmittedReport[] = [
      { seen: 'van-9' },
      van(1),
      at(-10, 2),
      at(60, 3),
      { seen: 'van-8' },
      at(-10, 4),
      at(-20, 5),
    ]
    const outcomes = await accept(grant, reports, patient())
    expect(appends[0]?.map(({ deviceId }) => deviceId)).toEqual([
      'van-5',
      'van-2',
      'van-4',
      'van-1',
      'van-3',
      'van-9',
      'van-8',
    ])
    expect(outcomes.map(({ kind }) => kind === 'seen')).toEqual([
      true,
      false,
      false,
      false,
      true,
      false,
      false,
    ])
  })

  test('operators see only a rejected report’s own JSON, not the whole request’s', async () => {
    await accept(grant, [van(1), van(2, { latitude: 91 }), { json: 7 }], patient())
    expect(offered.map(({ received }) => received)).toEqual([van(2, { latitude: 91 }), { json: 7 }])
  })

  test('reports sent together have separate Idempotency-Keys', async () => {
    const ids = async (keys: string[]) => {
      const reports = keys.map((idempotencyKey) => ({ ...van(1), idempotencyKey }))
      const outcomes = await accept(grant, reports, patient())
      return outcomes.map((outcome) => outcome.kind === 'accepted' && outcome.recordId)
    }
    const [a, b] = await ids(['trip 0', 'trip 1'])
    expect(b).not.toBe(a)
    expect(await ids(['trip 1', 'trip 0'])).toEqual([b, a])
  })

  test('of reports sent together, the first ones pass up to the key’s limit; the rest may be sent later', async () => {
    const reports = Array.from({ length: 1_000 }, (_, number) => van(number))
    fakeTimers('performance')
    const outcomes = await accept(grant, reports, patient())
    jest.useRealTimers()
    // The first of them was counted before it was read.
    expect(appends.flat().map(({ deviceId }) => deviceId)).toEqual(
      reports.slice(0, 601).map((_, number) => `van-${number}`),
    )
    expect(outcomes.findIndex(({ kind }) => kind === 'refused')).toBe(601)
    expect(outcomes[999]).toEqual({
      kind: 'refused',
      error: 'RATE_LIMITED',
      message: 'this API key may report 600 positions in 60 s: send it again in 60 s',
      retriable: true,
      retryAfterSeconds: 60,
    })
    expect(await counted()).toEqual({ accepted: 601, RATE_LIMITED: 399 })
  })
})

test('other requests are served while thousands of reports are validated', async () => {
  let turns = 0
  const turn = () => {
    turns += 1
    waiting = setImmediate(turn)
  }
  let waiting = setImmediate(turn)
  // Each reading of the clock is 5 ms later.
  let now = 0
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => (now += 5))
  const faulty = Array.from({ length: 5_000 }, () => ({ json: { latitude: 'x' } }))
  await accept(grant, faulty, patient('overland'))
  clearImmediate(waiting)
  clock.mockRestore()
  expect(turns).toBeGreaterThan(3)
})

test('a batch without a valid report writes nothing', async () => {
  expect(await accept(grant, [{ json: {} }], patient())).toMatchObject([{ kind: 'refused' }])
  expect(appends).toEqual([])
})

describe('an unavailable log', () => {
  test('while the log is unavailable, reports have no outcome, and count as internal failures', async () => {
    write = async () => {
      throw new DependencyError('the log is away', { retriable: true })
    }
    await expect(accept(grant, [van(1), { json: 7 }, van(2)], patient())).rejects.toThrow('away')
    write = async () => {
      throw new TypeError('events is not iterable')
    }
    await expect(accept(grant, [van(1)], patient())).rejects.toThrow('iterable')
    expect(await counted()).toEqual({ SERVICE_UNAVAILABLE: 3, SERVER_ERROR: 1 })
    expect(offered).toEqual([])
  })

  test('while the log is unavailable, the wait ends at the deadline of the request', async () => {
    write = () => new Promise(() => undefined)
    await expect(
      accept(grant, [van(1)], { deadline: performance.now() + 50 }),
    ).rejects.toMatchObject({
      error: 'SERVICE_UNAVAILABLE',
      headers: { 'Retry-After': expect.stringMatching(/^[123]$/) as unknown },
    })
    expect(await counted()).toEqual({ SERVICE_UNAVAILABLE: 1 })
  })
})

test('every outcome is exported from the start, so that a first burst shows as an increase', async () => {
  const { values } = await metrics.reports.get()
  expect(values.map(({ labels, value }) => [labels.outcome, value])).toEqual(
    [
      'accepted',
      'seen',
      'INVALID_PARAMS',
      'FORBIDDEN',
      'PAYLOAD_TOO_LARGE',
      'RATE_LIMITED',
      'UNAUTHORIZED',
      'UNSUPPORTED_MEDIA_TYPE',
      'SERVER_ERROR',
      'SERVICE_UNAVAILABLE',
    ].map((outcome) => [outcome, 0]),
  )
})
