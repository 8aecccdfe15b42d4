import { expect, test } from '@jest/globals'
import { realTiming } from '../../../client/timing.ts'
import { replayTrack, type DevicePlan } from '../../../commands/simulate/planned-report.ts'
import { runSimulation } from '../../../commands/simulate/run-simulation.ts'
import { isFlawless, simulationSummary } from '../../../commands/simulate/summary.ts'
import {
  acknowledged,
  jumpingTiming,
  refused,
  standInService,
  type Reply,
} from '../../client/stand-in-service.ts'

const T0 = Date.UTC(2026, 0, 1)

function plans(devices: number, points: number): DevicePlan[] {
  return Array.from({ length: devices }, (_, index) =>
    replayTrack({
      deviceId: `device-${index}`,
      points: Array.from({ length: points }, (_, point) => ({
        latitude: point / 1000,
        longitude: index / 1000,
        time: T0 + point * 1000,
      })),
    }),
  )
}

async function run(
  url: URL,
  options: Partial<Parameters<typeof runSimulation>[0]> & { plans: readonly DevicePlan[] },
) {
  const never = new AbortController().signal
  let shown = ''
  const result = await runSimulation({
    url,
    key: 'secret-key',
    // For slow machines; other tests cover giving up.
    giveUpMs: 60_000,
    timing: realTiming,
    startedAt: realTiming.now(),
    screen: { write: (text: string) => (shown += text) },
    stop: never,
    cut: never,
    ...options,
  })
  return { result, text: simulationSummary(result), shown }
}

type Sent = { deviceId: string; timestamp: string; latitude: number }
const parsed = ({ body }: { body: string }) => JSON.parse(body) as Sent

test('each device reports in order, one report at a time, independently of others', async () => {
  const open = new Map<string, number>()
  let most = 0
  let together = 0
  const { url, received } = await standInService(async (request) => {
    const { deviceId } = parsed(request)
    open.set(deviceId, (open.get(deviceId) ?? 0) + 1)
    most = Math.max(most, ...open.values())
    together = Math.max(together, [...open.values()].filter((n) => n > 0).length)
    await new Promise((resolve) => setImmediate(resolve))
    open.set(deviceId, (open.get(deviceId) ?? 0) - 1)
    // Every seventh is deferred: retries must not change the order.
    return received.length % 7 === 0
      ? refused(503, 'SERVICE_UNAVAILABLE', { 'Retry-After': '0' })
      : acknowledged(`R${received.length}`)
  })
  const timing = { ...realTiming, jitter: () => 0 }
  const { result } = await run(url, { plans: plans(20, 25), timing })
  expect(most).toBe(1)
  expect(together).toBeGreaterThan(1)
  for (let index = 0; index < 20; index += 1) {
    const times = received
      .map(parsed)
      .filter(({ deviceId }) => deviceId === `device-${index}`)
      .map(({ timestamp }) => timestamp)
    expect(times).toEqual(times.toSorted())
    expect(new Set(times).size).toBe(25)
  }
  expect(result.tally).toMatchObject({ sent: 500, acknowledged: 500, unfinished: 0 })
  expect(isFlawless(result)).toBe(true)
})

test('the summary counts rejected reports by reason', async () => {
  const { url } = await standInService((request) => {
    const { latitude } = parsed(request)
    if (latitude === 0.001) return refused(400, 'INVALID_PARAMS')
    return latitude === 0.002 ? refused(403, 'FORBIDDEN') : acknowledged('R')
  })
  const { result, text } = await run(url, { plans: plans(2, 4) })
  expect(isFlawless(result)).toBe(false)
  expect(text).toMatch(/^ {2}sent +8$/m)
  expect(text).toMatch(/^ {2}acknowledged +4$/m)
  expect(text).toMatch(/^ {2}refused +4$/m)
  expect(text).toMatch(/^ {4}FORBIDDEN +2$/m)
  expect(text).toMatch(/^ {4}INVALID_PARAMS +2$/m)
  expect(text).toMatch(/^ {2}answered in +p50 \d+\.\d {2}p95 \d+\.\d {2}p99 \d+\.\d {2}max .* ms$/m)
  expect(text).not.toContain('secret-key')
})

test('a refused key ends the run immediately', async () => {
  const { url, received } = await standInService(() => refused(401, 'UNAUTHORIZED'))
  const { result, text } = await run(url, { plans: plans(1, 100) })
  expect(received).toHaveLength(1)
  expect(text).toContain('ended early: the service does not accept the key')
  expect(isFlawless(result)).toBe(false)
})

test('a stopped simulation awaits pending responses and sends no more requests', async () => {
  const stop = new AbortController()
  const { url, received } = await standInService(() => {
    stop.abort()
    return acknowledged('R')
  })
  const { result } = await run(url, { plans: plans(3, 100), stop: stop.signal })
  expect(received.length).toBeLessThanOrEqual(6)
  expect(result.tally.acknowledged).toBe(received.length)
  expect(isFlawless(result)).toBe(true)
})

test('a second signal aborts requests in flight', async () => {
  const cut = new AbortController()
  const { url } = await standInService(() => {
    cut.abort()
    return new Promise<Reply>(() => undefined)
  })
  const { result, text } = await run(url, { plans: plans(1, 5), cut: cut.signal })
  expect(result.tally).toMatchObject({ sent: 1, acknowledged: 0, unfinished: 1 })
  expect(text).toMatch(/unfinished +1/)
  expect(isFlawless(result)).toBe(false)
})

test('reports are not sent before they are due', async () => {
  const { url, received } = await standInService(() => acknowledged('R'))
  const timing = jumpingTiming()
  const points = [0, 40_000, 100_000].map((later) => ({
    latitude: 1,
    longitude: 2,
    time: T0 + later,
  }))
  const plan = replayTrack({ deviceId: 'd', points, speedup: 10 })
  await run(url, { plans: [plan], timing, startedAt: timing.now() })
  expect(received).toHaveLength(3)
  expect(timing.pauses).toHaveLength(2)
  expect(timing.pauses.reduce((sum, ms) => sum + ms, 0)).toBeGreaterThan(9_000)
  expect(timing.pauses.reduce((sum, ms) => sum + ms, 0)).toBeLessThanOrEqual(10_000)
})

async function verified(found: (recordId: string, asked: number) => Reply) {
  const ingest = await standInService((_, index) => acknowledged(`R${index}`))
  const asked = new Map<string, number>()
  const admin = await standInService(({ path }) => {
    const recordId = path.replace('/api/v1/positions/', '')
    asked.set(recordId, (asked.get(recordId) ?? 0) + 1)
    return found(recordId, asked.get(recordId) ?? 0)
  })
  const run1 = await run(ingest.url, {
    plans: plans(2, 5),
    timing: jumpingTiming(),
    startedAt: 0,
    verify: { adminUrl: admin.url, readKey: 'read-key' },
  })
  return { ...run1, asked, admin }
}

test('every acknowledged record is queried with the read key until it is there', async () => {
  const { result, text, asked, admin } = await verified((_, times) =>
    times < 3 ? refused(404, 'NOT_FOUND') : { status: 200 },
  )
  expect([...asked.keys()].sort()).toEqual(Array.from({ length: 10 }, (_, index) => `R${index}`))
  expect(new Set(asked.values())).toEqual(new Set([3]))
  expect(new Set(admin.received.map(({ key }) => key))).toEqual(new Set(['Bearer read-key']))
  expect(text).toMatch(/readable +10$/m)
  expect(text).toMatch(/missing +0$/m)
  expect(isFlawless(result)).toBe(true)
})

test('a record counts as missing ten seconds after its 200', async () => {
  const { result, text } = await verified((recordId) =>
    recordId === 'R4' ? refused(404, 'NOT_FOUND') : { status: 200 },
  )
  expect(text).toMatch(/readable +9$/m)
  expect(text).toMatch(/missing +1$/m)
  expect(isFlawless(result)).toBe(false)
})

test('a key without the read scope is named as the fault', async () => {
  const { result, text } = await verified(() => refused(403, 'FORBIDDEN'))
  expect(text).toMatch(/not checked +10$/m)
  expect(text).toContain('reading refused')
  expect(isFlawless(result)).toBe(false)
})
