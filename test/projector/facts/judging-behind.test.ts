import { afterEach, beforeEach, expect, test } from '@jest/globals'
import type { EventLog } from '../../../event-log/event-log.ts'
import { deviceStatus, FOLD_VERSION } from '../../../projector/device-status.ts'
import type { Judging } from '../../../projector/facts/judge-apart.ts'
import { judgeBatches } from '../../../projector/facts/judge-batch.ts'
import { judgeBehind } from '../../../projector/facts/judge-behind.ts'
import { projectInUse } from '../../../projector/project-in-use.ts'
import { DependencyError } from '../../../runtime/errors.ts'
import { createLogger } from '../../../runtime/process/logger.ts'
import { WentBackError } from '../../../store/read-models.ts'
import type { Store } from '../../../store/store.ts'
import { eventually } from '../../eventually.ts'
import { deviceErased, positionReported, T0 } from '../../samples.ts'
import { logAndStoreForEachTest } from '../log-and-store.ts'
import { factsWorld } from './facts-world.ts'

const logger = createLogger({ level: 'silent', name: 'test' })
const MINUTE = 60_000
const tracker = { accountId: 'acc-1', deviceId: 'tracker-1' }
const clock = { time: T0, now: () => clock.time }

let eventLog: EventLog
let store: Store
/** Judging waits for this; the store is left alone. */
let held: Promise<void>
let release: () => void

logAndStoreForEachTest((opened) => ({ eventLog, store } = opened))

beforeEach(async () => {
  held = new Promise((resolve) => (release = resolve))
  await store.beginFacts({})
})

afterEach(() => release())

/** Resolves when it has stopped and judges nothing any longer. */
function projecting(changes: Partial<Judging> = {}, on = store) {
  const { judging, metrics } = factsWorld({ eventLog, store, clock })
  const stop = new AbortController()
  const running = projectInUse({
    eventLog,
    store: on,
    judging: { ...judging, ...changes },
    metrics,
    logger,
    signal: stop.signal,
  })
  return {
    async stop() {
      stop.abort()
      await running
    },
  }
}

function holding(): Judging['store'] {
  return {
    ...store,
    async judgeFacts(batch) {
      await held
      return store.judgeFacts(batch)
    },
  }
}

function at(minutes: number, changes: Parameters<typeof positionReported>[0] = {}) {
  const time = T0 + minutes * MINUTE
  return positionReported({ timestamp: time, receivedAt: time, ...changes })
}

const sos = { attributes: { alarm: 'sos' } }

const end = async () => (await eventLog.extent())[0]!.next - 1
const isProjected = async () => (await store.checkpoint())[0] === (await end())
const isJudged = async () => (await store.factsProgress())?.[0] === (await end())

async function facts() {
  const found = await store.pageFacts({ accountId: 'acc-1', limit: 1000 })
  return found
    .map(({ type, at, sequence }) => [type, (at - T0) / MINUTE, sequence] as const)
    .reverse()
}

test('reports are readable while earlier ones wait to be judged, and are judged in order', async () => {
  const projector = projecting({ store: holding() })
  for (const minutes of [0, 6, 12]) {
    await eventLog.append([at(minutes, sos)])
    await eventually(isProjected)
  }
  const device = await store.findDevice(tracker)
  expect(device?.status.reportCount).toBe(3)
  expect(await facts()).toEqual([])
  release()
  await eventually(isJudged)
  expect((await facts()).map(([type, , sequence]) => [type, sequence])).toEqual([
    ['alarm.reported', 1],
    ['device.online', 2],
    ['alarm.reported', 3],
    ['alarm.reported', 4],
  ])
  await projector.stop()
})

test('projecting pauses while the judging queue is at its memory limit', async () => {
  const readModels = await store.openGeneration(1)
  const { judging } = factsWorld({ eventLog, store, clock })
  await judging.prepare()
  const { signal } = new AbortController()
  const behind = judgeBehind(judgeBatches(readModels, { ...judging, store: holding() }), {
    publishes: false,
    onWentBack: () => undefined,
    logger,
    signal,
    mostWaitingBytes: 1_000,
  })
  let taken = 0
  const projected = async () => {
    for (let offset = 1; offset <= 10; offset += 1) {
      const entry = {
        kind: 'position',
        origin: { partition: 0, offset },
        event: at(offset),
      } as const
      const read = { partition: 0, lastOffset: offset, entries: [entry] }
      const changes = await readModels.project({
        ...read,
        fold: deviceStatus,
        foldVersion: FOLD_VERSION,
      })
      await behind.judge(read, changes)
      taken = offset
    }
  }
  const all = projected()
  await new Promise(setImmediate)
  expect(taken).toBeGreaterThan(0)
  expect(taken).toBeLessThan(5)
  release()
  await all
  await behind.ended()
  expect(await store.factsProgress()).toEqual({ 0: 10 })
  await readModels.close()
})

test('failed judging is retried even if nothing more is reported', async () => {
  let failures = 2
  const flaky: Judging['store'] = {
    ...store,
    async judgeFacts(batch) {
      failures -= 1
      if (failures >= 0) throw new DependencyError('the store is away', { retriable: true })
      return store.judgeFacts(batch)
    },
  }
  const projector = projecting({ store: flaky })
  await eventLog.append([at(0, sos)])
  await eventually(isJudged)
  await projector.stop()
  expect(await facts()).toEqual([
    ['alarm.reported', 0, 1],
    ['device.online', 0, 2],
  ])
})

test('after older facts were restored, the missing entries are read and judged again', async () => {
  let isRestored = false
  const restored: Judging['store'] = {
    ...store,
    async judgeFacts(batch) {
      await held
      if (isRestored) return store.judgeFacts(batch)
      isRestored = true
      throw new WentBackError(0, { from: 1, to: 0 })
    },
  }
  const projector = projecting({ store: restored })
  for (const minutes of [0, 6]) {
    await eventLog.append([at(minutes, sos)])
    await eventually(isProjected)
  }
  release()
  await eventually(isJudged)
  await projector.stop()
  expect((await facts()).map(([type]) => type)).toEqual([
    'alarm.reported',
    'device.online',
    'alarm.reported',
  ])
})

test('queued entries of an erased device decide nothing', async () => {
  const projector = projecting({ store: holding() })
  for (const minutes of [0, 6]) {
    await eventLog.append([at(minutes, sos), at(minutes, { deviceId: 'other' })])
    await eventually(isProjected)
  }
  await eventLog.erase(deviceErased({ ...tracker, erasedAt: T0 + 7 * MINUTE }))
  await eventually(isProjected)
  await eventLog.append([at(8)])
  await eventually(isProjected)
  release()
  await eventually(isJudged)
  await projector.stop()
  expect(await facts()).toEqual([
    ['device.online', 0, 1],
    ['device.online', 8, 1],
  ])
})

test('an erasure is published after the facts being decided for its device', async () => {
  const published: string[] = []
  const publishing: Judging['store'] = {
    ...store,
    async judgeFacts(batch) {
      const decided = await store.judgeFacts(batch)
      await held
      for (const { type } of decided.facts) published.push(type)
      return decided
    },
  }
  const topic = {
    append: async () => undefined,
    erase: async () => void published.push('erasure'),
  }
  const erasing: Store = {
    ...store,
    async forgetErased(erasure) {
      await store.forgetErased(erasure)
      // After the projector's own work.
      setImmediate(release)
    },
  }
  const projector = projecting({ store: publishing, topic }, erasing)
  await eventLog.append([at(0)])
  await eventually(isProjected)
  await eventLog.erase(deviceErased({ ...tracker, erasedAt: T0 + MINUTE }))
  await eventually(isJudged)
  await projector.stop()
  expect(published).toEqual(['device.online', 'erasure'])
})

test('entries queued for judging when the projector stops are judged once after its next start', async () => {
  const projector = projecting({ store: holding() })
  for (const minutes of [0, 6, 12]) {
    await eventLog.append([at(minutes, sos)])
    await eventually(isProjected)
  }
  const stopped = projector.stop()
  release()
  await stopped
  expect(await facts()).toHaveLength(2)
  const next = projecting()
  await eventually(isJudged)
  await next.stop()
  expect((await facts()).map(([, minutes]) => minutes).sort()).toEqual([0, 0, 12, 6])
})
