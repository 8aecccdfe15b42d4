import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { acceptReports, type Accept } from '../../../ingest-api/accept/accept.ts'
import type { SubmittedReport } from '../../../ingest-api/accept/outcome.ts'
import { DeviceLimit, KeyLimit } from '../../../ingest-api/accept/limits.ts'
import { rejectedContentOf } from '../../../ingest-api/accept/rejected-content.ts'
import type { RefusedReport } from '../../../ingest-api/accept/rejections.ts'
import { ReportMetrics } from '../../../ingest-api/accept/report-metrics.ts'
import { DependencyError } from '../../../runtime/errors.ts'
import { createMetrics, type Metrics } from '../../../runtime/process/metrics.ts'
import { memoryRateCounters } from '../../../runtime/limits/rate-counters.ts'
import type { AppendedEvent } from '../../../schemas/events/appended-event.ts'
import type { KeyGrant } from '../../../store/keys.ts'
import { T0 } from '../../samples.ts'

const grant: KeyGrant = {
  key: {
    id: 'key-1',
    accountId: 'acc-1',
    name: 'gateway',
    hint: 'gps_',
    createdAt: T0,
    scopes: ['positions:write'],
    deviceIds: ['van-*'],
  },
  accountSuspended: false,
  disabledDevices: new Set(['van-stolen']),
}
/** A request that may wait for a minute. */
const patient = (app?: string) => ({ app, deadline: performance.now() + 60_000 })
const seen = { kind: 'seen' }

let appends: (readonly AppendedEvent[])[]
let write: () => Promise<void>
let offered: RefusedReport[]
let metrics: Metrics
let accept: Accept

beforeEach(() => {
  appends = []
  offered = []
  write = async () => undefined
  metrics = createMetrics()
  const openCounters = memoryRateCounters
  const offer = (refusal: RefusedReport) => {
    offered.push(refusal)
    return { written: Promise.resolve(true) }
  }
  accept = acceptReports({
    eventLog: {
      append: async (events) => {
        appends.push(events)
        await write()
      },
    },
    keyLimit: new KeyLimit({ limit: { points: 6, seconds: 60 }, openCounters }),
    deviceLimit: new DeviceLimit({ limit: { points: 3, seconds: 60 }, openCounters }),
    metrics: new ReportMetrics({ metrics, rejections: { offer } }),
    clock: { now: () => T0 },
  })
})

afterEach(() => metrics.registry.clear())

function van(number: number): SubmittedReport {
  return { json: { deviceId: `van-${number}`, latitude: 54.3, longitude: 10.1 } }
}

/** The outcomes returned to the caller, who counts the first report. */
async function outcomes(...reports: SubmittedReport[]) {
  return (await accept(grant, reports, patient())).outcomes
}

async function counted(): Promise<Record<string, number>> {
  const { values } = await metrics.reports.get()
  const some = values.filter(({ value }) => value > 0)
  return Object.fromEntries(some.map(({ labels, value }) => [String(labels.outcome), value]))
}

describe('heartbeats', () => {
  test('heartbeats of a device with different alarms in one request are all appended', async () => {
    const heartbeat = (alarm?: string) => ({
      seen: 'van-1',
      ...(alarm !== undefined && { attributes: { alarm } }),
    })
    const sent = ['sos', undefined, 'sos', 'powerCut', undefined].map(heartbeat)
    expect(await outcomes(...sent)).toEqual(sent.map(() => seen))
    const [events = []] = appends
    const alarms = events.map((event) => event.attributes?.['alarm'])
    expect(alarms).toEqual(['sos', undefined, 'powerCut'])
  })

  test('each heartbeat is appended with a new id, and counted separately from positions', async () => {
    expect(await outcomes({ seen: 'van-1' })).toEqual([seen])
    expect(await outcomes({ seen: 'van-1' })).toEqual([seen])
    const [first, second] = appends.flat()
    expect(first).toEqual({
      eventId: expect.stringMatching(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/) as unknown,
      accountId: 'acc-1',
      keyId: 'key-1',
      deviceId: 'van-1',
      receivedAt: T0,
    })
    expect(second).not.toEqual(first)
    expect(await counted()).toEqual({ seen: 2 })
  })

  test('a request appends one heartbeat for each device, after all positions, in one append', async () => {
    const [a, b] = [{ seen: 'van-1' }, { seen: 'van-2' }]
    expect(await outcomes(van(3), a, b, a, van(1), a)).toMatchObject([
      { kind: 'accepted' },
      ...[seen, seen, seen],
      { kind: 'accepted' },
      seen,
    ])
    expect(appends).toHaveLength(1)
    expect(appends[0]?.map((event) => [event.deviceId, 'recordId' in event])).toEqual([
      ['van-3', true],
      ['van-1', true],
      ['van-1', false],
      ['van-2', false],
    ])
    expect(await counted()).toEqual({ accepted: 2, seen: 2 })
  })

  test('only the last of a device’s heartbeats with telemetry in one request is appended', async () => {
    for (const telemetry of [{ battery: 0.4 }, { attributes: { motion: false } }]) {
      appends = []
      const van = { seen: 'van-1' }
      const reports = [van, { ...van, battery: 0.5 }, { ...van, ...telemetry }, van]
      expect(await outcomes(...reports)).toEqual(reports.map(() => seen))
      expect(appends.flat()).toMatchObject([telemetry])
      expect(appends.flat()).toHaveLength(1)
    }
  })

  test('a heartbeat counts as one position of the key’s limit, however often its device is named', async () => {
    const many = Array.from({ length: 20 }, () => ({ seen: 'van-1' }))
    expect(await outcomes(...many)).toEqual(many.map(() => seen))
    const { outcomes: others, keyAllowance } = await accept(
      grant,
      [van(2), { seen: 'van-2' }, { seen: 'van-3' }, ...many],
      patient(),
    )
    expect(others.map(({ kind }) => kind)).not.toContain('refused')
    expect(keyAllowance).toMatchObject({ left: 3 })
    const beyond = [4, 5, 6, 7, 8].map((number) => ({ seen: `van-${number}` }))
    expect((await outcomes(...beyond)).map(({ kind }) => kind)).toEqual([
      ...['seen', 'seen', 'seen', 'seen'],
      'refused',
    ])
  })

  test('a heartbeat counts against its device’s limit once per request, even with positions', async () => {
    expect(await outcomes({ seen: 'van-1' }, van(1))).toMatchObject([seen, { kind: 'accepted' }])
    expect(await outcomes({ seen: 'van-1' })).toEqual([seen])
    expect(await outcomes({ seen: 'van-1' })).toEqual([seen])
    expect(await outcomes({ seen: 'van-1' })).toMatchObject([
      { kind: 'refused', error: 'RATE_LIMITED', retriable: true },
    ])
    expect(appends).toHaveLength(3)
  })

  test.each([
    ['tug', 'FORBIDDEN', true],
    ['van-stolen', 'FORBIDDEN', false],
    [' van-1', 'INVALID_PARAMS', false],
    ['', 'INVALID_PARAMS', false],
    ['van-\u0000', 'INVALID_PARAMS', false],
    [`van-${'1'.repeat(125)}`, 'INVALID_PARAMS', false],
  ])('a heartbeat of %j is rejected like a position: %s', async (deviceId, error, retriable) => {
    const chunks = [Buffer.from('{"_type":"lwt"}')]
    const position = { json: { deviceId, latitude: 1, longitude: 2 } }
    const told = await outcomes({ seen: deviceId, chunks }, van(1), position)
    const [refused, , ofPosition] = told
    expect(refused).toEqual(ofPosition)
    expect(refused).toMatchObject({ kind: 'refused', error, retriable })
    expect(appends.flat()).toHaveLength(1)
    expect(offered).toHaveLength(2)
    expect(rejectedContentOf(offered[0]!.received)).toMatchObject({ body: '{"_type":"lwt"}' })
    expect(rejectedContentOf(offered[0]!.received).deviceId).toBe(
      rejectedContentOf(offered[1]!.received).deviceId,
    )
  })

  test('a heartbeat that the log refused does not count as seen', async () => {
    write = async () => {
      throw new DependencyError('the log is away', { retriable: true })
    }
    await expect(outcomes({ seen: 'van-1' })).rejects.toMatchObject({ retriable: true })
    expect(await counted()).toEqual({ SERVICE_UNAVAILABLE: 1 })
  })
})
