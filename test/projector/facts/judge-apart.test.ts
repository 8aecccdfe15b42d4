import { expect, test } from '@jest/globals'
import { endOf } from '../../../event-log/offsets.ts'
import { judgeApart, noteFailures } from '../../../projector/facts/judge-apart.ts'
import type { Logger } from '../../../runtime/process/logger.ts'
import { createMetrics } from '../../../runtime/process/metrics.ts'
import type { FactState } from '../../../schemas/facts/fact-state.ts'
import type { Store } from '../../../store/store.ts'
import { positionReported, T0 } from '../../samples.ts'
import { logAndStoreForEachTest } from '../log-and-store.ts'
import { factsWorld } from './facts-world.ts'
import { startJudging } from '../../model/judging.ts'
import type { ProjectionEntry } from '../../../store/read-models.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const accountId = 'acc-1'
const clock = { time: T0, now: () => clock.time }

let store: Store
let eventLog: Parameters<typeof factsWorld>[0]['eventLog']

logAndStoreForEachTest((opened) => {
  ;({ store, eventLog } = opened)
  clock.time = T0
})

/** A state that makes judging fail. */
const broken = { sequence: 0, applied: {}, due: T0, liveness: null } as unknown as FactState

async function seed(states: Readonly<Record<string, FactState>>): Promise<void> {
  await store.seedFacts(
    Object.entries(states).map(([deviceId, state]) => ({
      accountId,
      deviceId,
      partition: 0,
      state,
    })),
  )
}

function silentSince(seenAt: number): FactState {
  const due = seenAt + HOUR
  return { sequence: 0, applied: {}, due, liveness: { seenAt, due } }
}

async function failedTimes({ metrics }: Pick<ReturnType<typeof factsWorld>, 'metrics'>) {
  return (await metrics.factsFailed.get()).values[0]?.value
}

async function stateOf(deviceId: string): Promise<FactState | undefined> {
  let found: FactState | undefined
  await store.judgeFacts({ devices: [{ accountId, deviceId, judge: (now) => void (found = now) }] })
  return found
}

test('a device that cannot be judged blocks no other: its entries in the batch are skipped, once', async () => {
  const log: ProjectionEntry[] = []
  const projector = startJudging(store, log, { clock })
  await store.beginFacts({})
  await seed({ broken })
  const report = (deviceId: string, after: number) => {
    const times = { timestamp: T0 + after, receivedAt: T0 + after }
    const event = positionReported({ accountId, deviceId, ...times })
    log.push({ kind: 'position', origin: { partition: 0, offset: log.length }, event })
  }
  report('broken', 1)
  report('van', 2)
  await projector.project()
  report('van', 2 * HOUR)
  report('broken', 3 * HOUR)
  await projector.project()
  const facts = await store.pageFacts({ accountId, limit: 9 })
  expect(facts.map(({ deviceId, type }) => [deviceId, type])).toEqual([
    ['van', 'device.online'],
    ['van', 'device.offline'],
    ['van', 'device.online'],
  ])
  expect(await store.factsProgress()).toEqual({ 0: 3 })
  expect(await stateOf('broken')).toEqual(broken)
})

test('600 due devices that cannot be judged do not block others, and are retried a minute later', async () => {
  const world = factsWorld({ eventLog, store, clock })
  await eventLog.append([positionReported()])
  await store.beginFacts(endOf(await eventLog.extent()))
  await seed(Object.fromEntries(Array.from({ length: 600 }, (_, n) => [`broken-${n}`, broken])))
  await seed({ van: silentSince(T0) })
  const failed: (number | undefined)[] = []
  for (const minutes of [120, 120.2, 120.4, 121.5]) {
    clock.time = T0 + minutes * MINUTE
    await world.ingestReports()
    await world.sweep()
    failed.push(await failedTimes(world))
  }
  const facts = await store.pageFacts({ accountId, limit: 9 })
  expect(facts.map(({ deviceId, type }) => [deviceId, type])).toEqual([['van', 'device.offline']])
  // The first sweep learns the end of the log.
  expect(failed).toEqual([0, 600, 600, 1_200])
  expect(world.failures.count()).toBe(600)
})

test("a device's fault is logged once until the device has been judged again", async () => {
  const told: [string, string][] = []
  const logger = {
    error: ({ deviceId, err }: { deviceId: string; err: Error }) =>
      told.push([deviceId, err.message]),
  } as unknown as Logger
  const metrics = createMetrics()
  const failures = noteFailures({ clock, metrics, logger })
  const judge = async (fault?: string) => {
    const devices = [
      {
        accountId,
        deviceId: 'van',
        judge: () => {
          if (fault !== undefined) throw new TypeError(fault)
          return undefined
        },
      },
    ]
    await judgeApart({ store, topic: undefined, failures, metrics }, { devices })
  }
  for (const fault of ['no place', 'no place', 'no time', undefined, 'no time']) await judge(fault)
  expect(told).toEqual([
    ['van', 'no place'],
    ['van', 'no time'],
    ['van', 'no time'],
  ])
  expect(failures.count()).toBe(1)
})
