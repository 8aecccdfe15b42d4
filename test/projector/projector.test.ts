import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, test } from '@jest/globals'
import { DatabaseSync } from '@photostructure/sqlite'
import type { EventLog } from '../../event-log/event-log.ts'
import { keepDeadLetters } from '../../projector/dead-letters.ts'
import { lagWatch } from '../../projector/measure-lag.ts'
import { projectorGroup, runProjector } from '../../projector/projector.ts'
import { applyRetention } from '../../projector/service.ts'
import { DependencyError } from '../../runtime/errors.ts'
import { createLogger } from '../../runtime/process/logger.ts'
import { createMetrics } from '../../runtime/process/metrics.ts'
import { POSITION_REPORTED } from '../../schemas/events/position-reported.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import type { ProjectionBatch } from '../../store/read-models.ts'
import type { Store } from '../../store/store.ts'
import { eventually } from '../eventually.ts'
import { positionReported, T0 } from '../samples.ts'
import { logAndStoreForEachTest } from './log-and-store.ts'

const logger = createLogger({ level: 'silent', name: 'test' })
const clock = { time: T0, now: () => clock.time }

let directory: string
let eventLog: EventLog
let store: Store

beforeEach(() => {
  clock.time = T0
})

logAndStoreForEachTest((opened) => ({ directory, eventLog, store } = opened), clock)

/** Runs a projector until it has caught up with the log, then stops it. */
async function projectAll(
  on: Partial<Pick<Store, 'project'>> = {},
  deadLetters: Pick<EventLog['deadLetters'], 'append'> = eventLog.deadLetters,
) {
  const metrics = createMetrics()
  const stop = new AbortController()
  const generation = await store.openGeneration(1)
  const running = runProjector({
    eventLog,
    store: { ...generation, ...on },
    settings: store,
    keepDeadLetters: keepDeadLetters({ deadLetters, metrics, logger }),
    metrics,
    signal: stop.signal,
  })
  await eventually(async () => (await lagOf(generation)).events === 0)
  stop.abort()
  await running
  await generation.close()
  return metrics
}

async function lagOf(readModels: Pick<Store, 'checkpoint'>) {
  return eventLog.lag(projectorGroup(1), await readModels.checkpoint())
}

function countOf(deviceId = 'tracker-1') {
  return store
    .findDevice({ accountId: 'acc-1', deviceId })
    .then((device) => device?.status.reportCount)
}

/** Writes a row that is not an event, as a damaged disk or a foreign program would. */
function putGarbage(value: string, type = POSITION_REPORTED): void {
  const database = new DatabaseSync(join(directory, 'log.sqlite'))
  database
    .prepare('INSERT INTO events (key, type, id, received_at, value) VALUES (?, ?, ?, ?, ?)')
    .run('acc-1/tracker-1', type, 'garbage', T0, Buffer.from(value))
  database.close()
}

test('the projector stores every event once and resumes where it stopped', async () => {
  const events = Array.from({ length: 1_200 }, () => positionReported())
  await eventLog.append(events.slice(0, 700))
  await projectAll()
  await eventLog.append(events.slice(700))
  await projectAll()
  expect(await countOf()).toBe(1_200)
  for (const { recordId } of events) {
    expect(await store.findPosition({ accountId: 'acc-1', recordId })).toBeDefined()
  }
})

test('an entry that cannot be read is dead-lettered and blocks nothing', async () => {
  await eventLog.append([positionReported()])
  putGarbage('no event')
  await eventLog.append([positionReported()])
  const metrics = await projectAll()
  expect(await countOf()).toBe(2)
  expect(await eventLog.deadLetters.count()).toBe(1)
  expect(await metrics.registry.metrics()).toContain(
    'gps_projected_events_total{outcome="dead_lettered"} 1',
  )
})

test('an event of an unknown type is skipped and counted', async () => {
  await eventLog.append([positionReported()])
  putGarbage('{}', 'DeviceMoved.v7')
  await eventLog.append([positionReported()])
  const metrics = await projectAll()
  expect(await countOf()).toBe(2)
  expect(await eventLog.deadLetters.count()).toBe(0)
  expect(await metrics.registry.metrics()).toContain(
    'gps_projected_events_total{outcome="skipped"} 1',
  )
})

test('nothing is checkpointed before its dead letters are stored', async () => {
  await eventLog.append([positionReported()])
  putGarbage('no event')
  await eventLog.append([positionReported()])
  let failures = 2
  const checkpoints: unknown[] = []
  await projectAll(store, {
    async append(entries) {
      failures -= 1
      checkpoints.push(await store.checkpoint())
      if (failures >= 0) throw new DependencyError('the disk is full', { retriable: true })
      await eventLog.deadLetters.append(entries)
    },
  })
  // A projector killed at any attempt would read the garbage again.
  expect(checkpoints).toEqual([{}, {}, {}])
  expect(await eventLog.deadLetters.count()).toBe(1)
  expect(await countOf()).toBe(2)
})

test('while the store is unavailable nothing is skipped, or dead-lettered twice', async () => {
  let failures = 3
  const flaky = {
    project: async (batch: ProjectionBatch) => {
      failures -= 1
      if (failures >= 0) throw new DependencyError('the store is away', { retriable: true })
      return store.project(batch)
    },
  }
  await eventLog.append([positionReported(), positionReported()])
  putGarbage('no event')
  const kept: number[] = []
  const metrics = await projectAll(flaky, {
    async append(entries) {
      kept.push(...entries.map(({ origin }) => origin.offset))
      await eventLog.deadLetters.append(entries)
    },
  })
  expect(await countOf()).toBe(2)
  // Once, not at every attempt.
  expect(kept).toEqual([3])
  expect(await metrics.registry.metrics()).toContain(
    'gps_projected_events_total{outcome="dead_lettered"} 1',
  )
})

test('lost read models are rebuilt from the log', async () => {
  await eventLog.append([positionReported(), positionReported()])
  await projectAll()
  await store.close()
  for (const ending of ['', '-wal', '-shm']) {
    await rm(join(directory, `read-models-1.sqlite${ending}`), { force: true })
  }
  store = openSqliteStore({ directory })
  expect(await countOf()).toBeUndefined()
  await projectAll()
  expect(await countOf()).toBe(2)
})

test('the lag and the dead letters are in the metrics', async () => {
  await eventLog.append([positionReported({ receivedAt: T0 }), positionReported()])
  clock.time = T0 + 30_000
  const metrics = createMetrics()
  expect(await metrics.registry.metrics()).not.toMatch(/^gps_(projector_lag|dead_letters)/m)
  await lagWatch({ eventLog, store, metrics }).measure()
  const text = await metrics.registry.metrics()
  expect(text).toContain('gps_projector_lag_events 2')
  expect(text).toContain('gps_projector_lag_seconds 30')
  expect(text).toContain('gps_dead_letters 0')
})

test('the metrics include the lag as long as it can be measured', async () => {
  await eventLog.append([positionReported({ receivedAt: T0 })])
  clock.time = T0 + 3_000
  let away = false
  const log = {
    lag: async (group: string) => {
      if (away) throw new DependencyError('the log is away', { retriable: true })
      return eventLog.lag(group)
    },
    deadLetters: eventLog.deadLetters,
  }
  const metrics = createMetrics()
  const watch = lagWatch({ eventLog: log, store, metrics })
  expect(watch.last()).toEqual({})
  await watch.measure()
  expect(watch.last()).toEqual({ lag: { events: 1, seconds: 3 }, deadLetters: 0 })
  away = true
  await expect(watch.measure()).rejects.toThrow('the log is away')
  expect(watch.last()).toEqual({})
  expect(await metrics.registry.metrics()).not.toMatch(/^gps_(projector_lag|dead_letters)/m)
})

test('the lag is measured from the log while the store is unavailable', async () => {
  let away = true
  const flaky = {
    currentGeneration: async () => {
      if (away) throw new DependencyError('the store is away', { retriable: true })
      return store.currentGeneration()
    },
    checkpoint: () => store.checkpoint(),
    factsProgress: () => store.factsProgress(),
  }
  const watch = lagWatch({ eventLog, store: flaky, metrics: createMetrics() })
  await expect(watch.measure()).rejects.toThrow('the store is away')
  away = false
  await watch.measure()
  away = true
  await eventLog.append([positionReported({ receivedAt: T0 })])
  await watch.measure()
  expect(watch.last()).toMatchObject({ lag: { events: 1 } })
})

test('retention removes only records received too long ago', async () => {
  const day = 86_400_000
  const old = positionReported({ deviceId: 'gone', timestamp: T0, receivedAt: T0 })
  const late = positionReported({ timestamp: T0, receivedAt: T0 + 9 * day })
  await eventLog.append([old, late])
  await projectAll()
  clock.time = T0 + 10 * day
  const { signal } = new AbortController()
  await applyRetention({ eventLog, store, clock, retentionDays: 5, signal })
  expect(await store.findPosition({ accountId: 'acc-1', recordId: old.recordId })).toBeUndefined()
  expect(await countOf('gone')).toBeUndefined()
  expect(await store.findPosition({ accountId: 'acc-1', recordId: late.recordId })).toBeDefined()
  expect((await eventLog.lag('a new reader')).events).toBe(1)
})

test('retention skips a device that has reported since its status was last projected', async () => {
  const day = 86_400_000
  const device = { accountId: 'acc-1', deviceId: 'tracker-1' }
  const silent = { ...device, deviceId: 'silent' }
  await eventLog.append([
    positionReported({ ...silent, receivedAt: T0 }),
    positionReported({ receivedAt: T0 + 4 * day }),
  ])
  await projectAll()
  for (const one of [device, silent]) {
    await store.changeDeviceSettings({ ...one, name: 'buoy', changedAt: T0 })
  }
  await eventLog.append([positionReported({ receivedAt: T0 + 8 * day })])
  clock.time = T0 + 10 * day
  const { signal } = new AbortController()
  await applyRetention({ eventLog, store, clock, retentionDays: 5, signal })
  expect(await store.findDevice(silent)).toBeUndefined()
  const history = { ...device, order: 'asc', limit: 10 } as const
  expect(await store.pagePositions(history)).toEqual([])
  await projectAll()
  expect(await store.findDevice(device)).toMatchObject({
    status: { reportCount: 2, firstSeenAt: T0 + 4 * day },
    settings: { name: 'buoy' },
  })
  expect(await store.pagePositions(history)).toHaveLength(1)
  await applyRetention({ eventLog, store, clock, retentionDays: 1, signal })
  expect(await store.findDevice(device)).toBeUndefined()
})

test('retention stops between two steps when the process stops, and continues next time', async () => {
  const day = 86_400_000
  await eventLog.append(Array.from({ length: 4_000 }, () => positionReported({ receivedAt: T0 })))
  await projectAll()
  clock.time = T0 + 10 * day
  const stop = new AbortController()
  const retention = { eventLog, store, clock, retentionDays: 5 }
  const trimming = applyRetention({ ...retention, signal: stop.signal })
  stop.abort()
  await trimming
  expect((await eventLog.lag('a new reader')).events).toBe(3_000)

  const later = new AbortController()
  await eventLog.trim(clock.time)
  const expiring = applyRetention({ ...retention, signal: later.signal })
  await Promise.resolve()
  later.abort()
  await expiring
  expect(await recordsLeft()).toBeGreaterThan(0)
  await applyRetention({ ...retention, signal: new AbortController().signal })
  expect(await recordsLeft()).toBe(0)

  async function recordsLeft(): Promise<number> {
    const query = {
      accountId: 'acc-1',
      deviceId: 'tracker-1',
      order: 'asc',
      limit: 10_000,
    } as const
    return (await store.pagePositions(query)).length
  }
})
