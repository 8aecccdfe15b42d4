import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import type { EventLog } from '../../../event-log/event-log.ts'
import { projectInUse } from '../../../projector/project-in-use.ts'
import { projectorGroup, runProjector } from '../../../projector/projector.ts'
import { DependencyError } from '../../../runtime/errors.ts'
import { createLogger } from '../../../runtime/process/logger.ts'
import { openSqliteStore } from '../../../store/sqlite/sqlite-store.ts'
import type { Store } from '../../../store/store.ts'
import { eventually } from '../../eventually.ts'
import { deviceErased, deviceSeen, positionReported, T0 } from '../../samples.ts'
import { logAndStoreForEachTest } from '../log-and-store.ts'
import { factsWorld, projectAll } from './facts-world.ts'

const logger = createLogger({ level: 'silent', name: 'test' })
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const tracker = { accountId: 'acc-1', deviceId: 'tracker-1' }

let directory: string
let eventLog: EventLog
let store: Store
const clock = { time: T0, now: () => clock.time }

logAndStoreForEachTest((opened) => {
  ;({ directory, eventLog, store } = opened)
  clock.time = T0
})

type World = ReturnType<typeof factsWorld>
type Projecting = Pick<World, 'judging' | 'ingestReports'>

function world(options: Partial<Parameters<typeof factsWorld>[0]> = {}): World {
  return factsWorld({ eventLog, store, clock, ...options })
}

async function project(opened: Projecting = world(), on: Store = store) {
  await opened.ingestReports()
  await projectAll({ eventLog, store: on, judging: opened.judging })
}

function at(receivedAt: number, changes: Parameters<typeof positionReported>[0] = {}) {
  const time = T0 + receivedAt
  return positionReported({ timestamp: time, receivedAt: time, ...changes })
}

async function facts() {
  const found = await store.pageFacts({ accountId: 'acc-1', limit: 1000 })
  const inOrder = [...found].sort((a, b) => a.at - b.at || a.sequence - b.sequence)
  return inOrder.map(({ type, at, sequence }) => [type, at - T0, sequence] as const)
}

/** Judging starts with an empty log, as in a new installation. */
async function begin(): Promise<World> {
  const opened = world()
  await project(opened)
  return opened
}

test('a report, silence and a heartbeat give online, offline and online', async () => {
  const opened = await begin()
  await opened.ingestReports()
  await eventLog.append([at(0)])
  await project(opened)
  expect(await facts()).toEqual([['device.online', 0, 1]])

  await sweepAt(opened, T0 + HOUR + MINUTE)
  expect(await facts()).toEqual([
    ['device.online', 0, 1],
    ['device.offline', HOUR, 2],
  ])

  await eventLog.append([deviceSeen({ receivedAt: T0 + 2 * HOUR })])
  await project(opened)
  expect((await facts()).at(-1)).toEqual(['device.online', 2 * HOUR, 3])
  const { values } = await opened.metrics.facts.get()
  expect(Object.fromEntries(values.map(({ labels, value }) => [labels.type, value]))).toEqual({
    'device.online': 2,
    'device.offline': 1,
    'alarm.reported': 0,
    'geofence.entered': 0,
    'geofence.left': 0,
    'rule.raised': 0,
    'rule.cleared': 0,
  })
})

test('an entry projected but not judged before a crash is judged once', async () => {
  const opened = await begin()
  await eventLog.append([at(0, { attributes: { alarm: 'sos' } }), at(1)])
  // A projector that stops between the two steps.
  const failing = { ...opened.judging, store: { ...store, judgeFacts: crash } }
  await expect(projected(failing)).resolves.toBe(true)
  expect(await facts()).toEqual([])
  await project()
  const alarm = ['alarm.reported', 0, 1]
  expect(await facts()).toEqual([alarm, ['device.online', 0, 2]])
  await project()
  expect(await facts()).toHaveLength(2)
})

async function crash(): Promise<never> {
  throw new DependencyError('the process ends here', { retriable: true })
}

/** Runs a projector until the read models are complete; facts may lag behind. */
async function projected(judging: World['judging']): Promise<boolean> {
  const stop = new AbortController()
  const { metrics } = judging
  const options = { eventLog, store, judging, metrics, logger, signal: stop.signal }
  const running = projectInUse(options)
  await eventually(
    async () => (await eventLog.lag(projectorGroup(1), await store.checkpoint())).events === 0,
  )
  stop.abort()
  await running
  return true
}

test('a repeat after such a crash is not an alarm', async () => {
  const opened = await begin()
  const pressed = at(0, { attributes: { alarm: 'sos' } })
  await eventLog.append([pressed])
  await project(opened)
  await eventLog.append([{ ...pressed, receivedAt: T0 + 10 * MINUTE }])
  await projected({ ...opened.judging, store: { ...store, judgeFacts: crash } })
  await project()
  expect((await facts()).map(([type]) => type)).toEqual(['alarm.reported', 'device.online'])
})

test('a rebuild decides nothing, and after its switch every fact is there once', async () => {
  await begin()
  await eventLog.append([at(0), at(2 * HOUR)])
  await project()
  const before = await facts()
  expect(before).toHaveLength(3)
  const rebuild = await store.beginRebuild()
  const next = await store.openGeneration(2)
  const stop = new AbortController()
  const running = runProjector({
    eventLog,
    store: next,
    settings: store,
    keepDeadLetters: async () => undefined,
    generation: 2,
    metrics: world().metrics,
    signal: stop.signal,
  })
  await eventually(async () => (await next.checkpoint())[0] === 2)
  stop.abort()
  await running
  expect(await facts()).toEqual(before)
  await rebuild?.switchOver()
  await next.close()
  await eventLog.append([at(5 * HOUR)])
  await project()
  expect((await facts()).map(([, , sequence]) => sequence)).toEqual([1, 2, 3, 4, 5])
  await rebuild?.end()
})

test('a lost file of the read models neither loses nor doubles a fact', async () => {
  await begin()
  await eventLog.append([at(0), at(2 * HOUR)])
  await project()
  const before = await facts()
  await store.close()
  for (const end of ['', '-wal', '-shm']) {
    rmSync(join(directory, `read-models-1.sqlite${end}`), { force: true })
  }
  store = openSqliteStore({ directory, clock })
  await eventLog.append([at(5 * HOUR)])
  await project()
  expect((await facts()).slice(0, 3)).toEqual(before)
  expect((await facts()).map(([, , sequence]) => sequence)).toEqual([1, 2, 3, 4, 5])
})

test('after an upgrade facts start at the end of the log: known devices are online or offline without a fact', async () => {
  await eventLog.append([
    at(0, { deviceId: 'silent' }),
    at(0, { deviceId: 'imported', imported: true }),
    at(2 * HOUR, { deviceId: 'alive' }),
  ])
  clock.time = T0 + 2 * HOUR
  const opened = world()
  await project(opened)
  expect(await facts()).toEqual([])
  const times = [3 * HOUR, 4 * HOUR]
  for (const time of times) {
    await eventLog.append([at(time, { deviceId: 'silent' }), at(time, { deviceId: 'imported' })])
  }
  await project(opened)
  await sweepAt(opened, T0 + 4 * HOUR + MINUTE)
  const told = (await store.pageFacts({ accountId: 'acc-1', limit: 99 })).map((fact) => [
    fact.deviceId,
    fact.type,
    (fact.at - T0) / HOUR,
    ...(fact.type === 'device.online' ? [fact.previous] : []),
  ])
  expect(told.sort()).toEqual([
    ['alive', 'device.offline', 3],
    ['imported', 'device.offline', 4],
    ['imported', 'device.online', 3, null],
    ['imported', 'device.online', 4, 'offline'],
    ['silent', 'device.offline', 4],
    ['silent', 'device.online', 3, 'offline'],
    ['silent', 'device.online', 4, 'offline'],
  ])
})

test('imported positions are never judged', async () => {
  await begin()
  await eventLog.append([at(0, { imported: true, attributes: { alarm: 'sos' } })])
  await project()
  expect(await facts()).toEqual([])
})

test('an erased device loses its facts, and its next report is its first', async () => {
  await begin()
  await eventLog.append([at(0), at(2 * HOUR)])
  await project()
  expect(await facts()).toHaveLength(3)
  await eventLog.erase(deviceErased({ ...tracker, erasedAt: T0 + 3 * HOUR }))
  await project()
  expect(await facts()).toEqual([])
  await eventLog.append([at(4 * HOUR)])
  await project()
  expect(await facts()).toEqual([['device.online', 4 * HOUR, 1]])
})

test('entries before an erasure in its batch decide nothing', async () => {
  await begin()
  await eventLog.append([at(0), at(2 * HOUR)])
  await eventLog.erase(deviceErased({ ...tracker, erasedAt: T0 + 3 * HOUR }))
  await eventLog.append([at(4 * HOUR)])
  await project()
  expect(await facts()).toEqual([['device.online', 4 * HOUR, 1]])
})

test('facts decided from another log are rejected', async () => {
  await begin()
  await eventLog.append([at(0), at(1)])
  await project()
  const other = { ...store, lastJudged: async () => ({ 0: { offset: 2, id: 'another' } }) }
  const opened = world()
  await eventLog.append([at(2)])
  await expect(
    project({ ...opened, judging: { ...opened.judging, store: other } }, other),
  ).rejects.toThrow(/the events were decided from another log: .*remove facts.sqlite/)
})

test('changing an interval or enabling a device recomputes its deadline', async () => {
  const opened = await begin()
  await eventLog.append([at(0), at(0, { deviceId: 'off' })])
  await project(opened)
  await store.changeDeviceSettings({ ...tracker, deviceId: 'off', disabled: true, changedAt: T0 })
  await sweepAt(opened, T0 + 10 * MINUTE)
  expect((await facts()).map(([type]) => type)).toEqual(['device.online', 'device.online'])
  const shorter = { ...tracker, expectedIntervalSeconds: 10, changedAt: T0 }
  await store.changeDeviceSettings(shorter)
  await sweepAt(opened, T0 + 20 * MINUTE)
  expect((await facts()).at(-1)).toEqual(['device.offline', 5 * MINUTE, 2])
  await sweepAt(opened, T0 + 3 * HOUR)
  expect(await facts()).toHaveLength(3)
  await store.changeDeviceSettings({ ...tracker, deviceId: 'off', disabled: false, changedAt: T0 })
  await sweepAt(opened, T0 + 3 * HOUR + MINUTE)
  expect((await facts()).at(-1)).toEqual(['device.offline', HOUR, 2])
})

/** A time has passed once all later entries in the log are judged; a late sweep waits longer. */
async function sweepAt(opened: World, time: number): Promise<void> {
  clock.time = time
  for (let sweeps = 0; sweeps < 3; sweeps += 1) {
    await opened.ingestReports()
    await opened.sweep()
    clock.time += 6_000
  }
}

test('time does not pass before everything in the log has been judged', async () => {
  const opened = await begin()
  await eventLog.append([at(0)])
  await project(opened)
  await eventLog.append([at(59 * MINUTE)])
  await sweepAt(opened, T0 + 2 * HOUR)
  expect(await facts()).toHaveLength(1)
  await project(opened)
  await sweepAt(opened, T0 + 2 * HOUR + MINUTE)
  expect((await facts()).at(-1)).toEqual(['device.offline', HOUR + 59 * MINUTE, 2])
})

test('a time has not passed until every ingest API has reported after it', async () => {
  const opened = await begin()
  await eventLog.append([at(0)])
  await project(opened)
  clock.time = T0 + HOUR
  await opened.ingestReports()
  for (const seconds of [1, 3, 6]) {
    clock.time = T0 + HOUR + seconds * 1_000
    await opened.sweep()
  }
  expect(await facts()).toHaveLength(1)
  await opened.ingestReports()
  await opened.sweep()
  expect(await facts()).toHaveLength(2)
})
