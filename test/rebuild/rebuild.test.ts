import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { DatabaseSync } from '@photostructure/sqlite'
import type { EventLog } from '../../event-log/event-log.ts'
import { openSqliteEventLog } from '../../event-log/sqlite/sqlite-event-log.ts'
import { projectInUse } from '../../projector/project-in-use.ts'
import { projectorGroup } from '../../projector/projector.ts'
import { rebuildReadModels, type Outcome } from '../../rebuild/rebuild.ts'
import { report } from '../../rebuild/report.ts'
import { createLogger } from '../../runtime/logger.ts'
import { createMetrics } from '../../runtime/metrics.ts'
import { POSITION_REPORTED } from '../../schemas/position-reported.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import type { Store } from '../../store/store.ts'
import { eventually } from '../eventually.ts'
import { deviceErased, positionReported, T0 } from '../samples.ts'

const DAY_MS = 86_400_000
const logger = createLogger({ level: 'silent', name: 'test' })
const clock = { time: T0, now: () => clock.time }

let directory: string
let eventLog: EventLog
let store: Store
let stopProjector: () => Promise<void>

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'gps-rebuild-'))
  clock.time = T0
  eventLog = openSqliteEventLog({ file: join(directory, 'log.sqlite'), clock })
  store = openSqliteStore({ directory })
  startProjector()
})

afterEach(async () => {
  await stopProjector()
  await store.close()
  await eventLog.close()
  await rm(directory, { recursive: true })
})

function startProjector() {
  const stop = new AbortController()
  const { signal } = stop
  const running = projectInUse({ eventLog, store, metrics: createMetrics(), logger, signal })
  stopProjector = () => {
    stop.abort()
    return running
  }
}

/**
 * As another process does it: with a store and a log of its own. It waits for `hold` before it
 * switches, and again before it removes what was in use.
 */
async function rebuild({
  hold,
  ...options
}: Partial<Parameters<typeof rebuildReadModels>[0]> & {
  hold?: () => Promise<unknown>
} = {}): Promise<Outcome> {
  const ownLog = openSqliteEventLog({ file: join(directory, 'log.sqlite'), clock })
  const ownStore = openSqliteStore({ directory })
  try {
    return await rebuildReadModels({
      eventLog: ownLog,
      store: hold === undefined ? ownStore : held(ownStore, hold),
      clock,
      metrics: createMetrics(),
      logger,
      screen: { write: () => undefined },
      force: false,
      followedAfterMs: 1_000,
      signal: new AbortController().signal,
      ...options,
    })
  } finally {
    await ownStore.close()
    await ownLog.close()
  }
}

function held(ownStore: Store, hold: () => Promise<unknown>): Store {
  return {
    ...ownStore,
    async beginRebuild() {
      const begun = await ownStore.beginRebuild()
      return (
        begun && {
          ...begun,
          switchOver: () => hold().then(() => begun.switchOver()),
          end: () => hold().then(() => begun.end()),
        }
      )
    },
  }
}

async function append(count: number, deviceId = 'tracker-1'): Promise<string[]> {
  const events = Array.from({ length: count }, () => positionReported({ deviceId }))
  await eventLog.append(events)
  return events.map(({ recordId }) => recordId)
}

async function caughtUp(): Promise<void> {
  await eventually(async () => {
    const group = projectorGroup(await store.currentGeneration())
    return (await eventLog.lag(group, await store.checkpoint())).events === 0
  })
}

/** How many reports each device counts, and how many records it has. */
async function counts(): Promise<Record<string, [counted: number, stored: number]>> {
  const devices = await store.pageDevices({ accountId: 'acc-1', limit: 1_000 })
  const entries = devices.map(async ({ status: { deviceId, reportCount } }) => {
    const query = { accountId: 'acc-1', deviceId, order: 'asc', limit: 10_000 } as const
    return [deviceId, [reportCount, (await store.pagePositions(query)).length]]
  })
  return Object.fromEntries(await Promise.all(entries)) as Record<string, [number, number]>
}

async function erase(deviceId: string): Promise<void> {
  await eventLog.erase(deviceErased({ deviceId, erasedAt: T0 }))
}

/** Something that operators say of a device, and that shows whether it has reported or not. */
async function expectEvery(deviceId: string, changedAt: number): Promise<void> {
  const device = { accountId: 'acc-1', deviceId }
  await store.changeDeviceSettings({ ...device, expectedIntervalSeconds: 60, changedAt })
}

/** Changes the read models behind everybody's back. */
function damage(sql: string, generation = 1): void {
  const database = new DatabaseSync(join(directory, `read-models-${generation}.sqlite`))
  database.exec(sql)
  database.close()
}

describe('a rebuild', () => {
  test('makes the same again, switches, and removes what was in use before', async () => {
    const first = positionReported()
    await eventLog.append([first, { ...first, receivedAt: first.receivedAt + 5_000 }])
    await append(1_200)
    await append(300, 'tracker-2')
    await caughtUp()
    const before = await counts()

    const outcome = await rebuild()
    expect(outcome).toMatchObject({
      kind: 'switched',
      compared: { from: 1, to: 2, equal: true, after: { records: { count: 1_501 } } },
    })
    expect(await store.currentGeneration()).toBe(2)
    expect(await counts()).toEqual(before)
    expect(existsSync(join(directory, 'read-models-1.sqlite'))).toBe(false)
    await append(10)
    await caughtUp()
    expect(await counts()).toEqual({ 'tracker-1': [1_211, 1_211], 'tracker-2': [300, 300] })

    const digests = (from: Outcome) => from.kind === 'switched' && from.compared.before.records
    expect(await rebuild()).toMatchObject({ kind: 'switched', compared: { from: 2, to: 3 } })
    expect(digests(outcome)).toMatchObject({ count: 1_501 })
    expect(await counts()).toMatchObject({ 'tracker-1': [1_211, 1_211] })
  })

  test('leaves nothing out and shows everything all the time while reports keep coming', async () => {
    const seen = await append(2_000)
    await caughtUp()
    const stop = new AbortController()
    const sending = (async () => {
      for (let n = 0; !stop.signal.aborted; n += 1) {
        seen.push(...(await append(20, `tracker-${n % 7}`)))
        await new Promise(setImmediate)
      }
    })()
    const readable = new Set<string>()
    const reading = (async () => {
      for (let n = 0; !stop.signal.aborted; n += 1) {
        const recordId = seen[n % seen.length] ?? ''
        const found = await store.findPosition({ accountId: 'acc-1', recordId })
        if (found !== undefined) readable.add(recordId)
        else if (readable.has(recordId)) throw new Error(`${recordId} has vanished`)
        await new Promise(setImmediate)
      }
    })()
    // However slow the machine is: a hundred more are read at each stage.
    const hundredMore = () => {
      const enough = readable.size + 100
      const isEnough = () => eventually(() => readable.size >= enough, { withinMs: 30_000 })
      return Promise.race([isEnough(), reading])
    }
    const outcome = await rebuild({ hold: hundredMore })
    stop.abort()
    await sending
    await reading
    expect(readable.size).toBeGreaterThan(200)
    expect(outcome).toMatchObject({ kind: 'switched', compared: { equal: true } })
    await caughtUp()
    const all = Object.values(await counts())
    expect(all.reduce((sum, [counted]) => sum + counted, 0)).toBe(seen.length)
    for (const recordId of seen) {
      expect(await store.findPosition({ accountId: 'acc-1', recordId })).toBeDefined()
    }
  }, 60_000)

  test.each([
    ['a record is missing', 'DELETE FROM records WHERE rowid = 5'],
    ['a count is wrong', 'UPDATE device_statuses SET report_count = report_count + 1'],
    ['a record is changed', 'UPDATE records SET latitude = 0 WHERE rowid = 5'],
    ['a device is missing', `DELETE FROM device_statuses WHERE device_id = 'tracker-2'`],
    ['all records of a device are missing', `DELETE FROM records WHERE device_id = 'tracker-2'`],
    ['a time is wrong', 'UPDATE device_statuses SET last_seen_at = last_seen_at - 1'],
  ])('finds that %s, and mends it when it is told to', async (_name, sql) => {
    await append(20)
    await append(5, 'tracker-2')
    await caughtUp()
    damage(sql)
    const damaged = await counts()
    // What comes later must neither hide the damage nor be taken for it.
    await append(3)
    await append(3, 'tracker-3')

    const refused = await rebuild()
    expect(refused).toMatchObject({ kind: 'different', compared: { equal: false } })
    expect(report(refused)).toContain('npm run rebuild -- --force')
    expect(await store.currentGeneration()).toBe(1)
    expect(existsSync(join(directory, 'read-models-2.sqlite'))).toBe(false)
    await caughtUp()
    const devices = Object.keys(await counts())
    expect(devices).toEqual([...Object.keys(damaged), 'tracker-3'])

    const forced = await rebuild({ force: true })
    expect(forced).toMatchObject({ kind: 'switched', compared: { equal: false, to: 3 } })
    await caughtUp()
    expect(await counts()).toEqual({
      'tracker-1': [23, 23],
      'tracker-2': [5, 5],
      'tracker-3': [3, 3],
    })
  })

  test('does not begin when the log no longer reaches back, unless it is forced', async () => {
    await eventLog.append([
      positionReported({ receivedAt: T0 }),
      positionReported({ receivedAt: T0 + 1_000 }),
      positionReported({ receivedAt: T0 + 2_000 }),
    ])
    await caughtUp()
    await eventLog.trim(T0 + 1_000)
    const refused = await rebuild()
    expect(refused).toMatchObject({ kind: 'log too short' })
    expect(report(refused)).toMatch(/reaches back only to offset 2.*oldest record in use .* 1\./)
    expect(await counts()).toEqual({ 'tracker-1': [3, 3] })
    expect(await rebuild({ force: true })).toMatchObject({ kind: 'switched' })
    expect(await counts()).toEqual({ 'tracker-1': [2, 2] })
  })

  test('does not take an empty log for the one that the records came from', async () => {
    await append(3)
    await caughtUp()
    await stopProjector()
    const other = openSqliteEventLog({ file: join(directory, 'other.sqlite'), clock })
    expect(await rebuild({ eventLog: other })).toMatchObject({ kind: 'log too short' })
    expect(await rebuild({ eventLog: other, force: true })).toMatchObject({ kind: 'switched' })
    await other.close()
    await eventually(async () => Object.keys(await counts()).length === 0)
  })

  test('is not misled by what retention has taken or is about to take', async () => {
    const at = (day: number, deviceId: string) =>
      positionReported({ deviceId, receivedAt: T0 + day * DAY_MS, timestamp: T0 + day * DAY_MS })
    await eventLog.append([
      at(0, 'silent'),
      at(0, 'both'),
      at(2, 'about to go'),
      at(5, 'both'),
      at(5, 'young'),
    ])
    await caughtUp()
    clock.time = T0 + 12 * DAY_MS - 1_000
    const owner = openSqliteStore({ directory, retention: { wanted: 10 } })
    await owner.close()
    await eventLog.trim(T0 + 1 * DAY_MS)
    await store.expire(T0 + 1 * DAY_MS)
    expect(await counts()).toMatchObject({ both: [2, 1] })

    const outcome = await rebuild()
    expect(outcome).toMatchObject({
      kind: 'switched',
      compared: { equal: true, after: { records: { count: 2 }, devices: { count: 2 } } },
    })
    expect(await counts()).toMatchObject({ both: [1, 1], young: [1, 1], 'about to go': [1, 1] })
    damage(`UPDATE device_statuses SET last_seen_at = 0 WHERE device_id = 'both'`, 2)
    expect(await rebuild()).toMatchObject({ kind: 'different' })
  })

  test('brings the old read models up to date where no projector runs', async () => {
    await append(5)
    await caughtUp()
    await stopProjector()
    await append(700, 'tracker-2')
    expect(await rebuild()).toMatchObject({
      kind: 'switched',
      compared: { equal: true, before: { records: { count: 705 } } },
    })
    expect(await counts()).toEqual({ 'tracker-1': [5, 5], 'tracker-2': [700, 700] })
  })

  test('keeps no dead letter twice', async () => {
    const database = new DatabaseSync(join(directory, 'log.sqlite'))
    const insert = database.prepare(
      'INSERT INTO events (key, type, id, received_at, value) VALUES (?, ?, ?, ?, ?)',
    )
    await append(1)
    insert.run('acc-1/tracker-1', POSITION_REPORTED, 'garbage', T0, Buffer.from('garbage'))
    database.close()
    await append(1)
    await caughtUp()
    const kept: number[] = []
    const counting = openSqliteEventLog({ file: join(directory, 'log.sqlite'), clock })
    const outcome = await rebuild({
      eventLog: {
        subscribe: (subscription) => counting.subscribe(subscription),
        committed: (group) => counting.committed(group),
        extent: () => counting.extent(),
        eventIdsAt: (offsets) => counting.eventIdsAt(offsets),
        async deadLetter(entries) {
          kept.push(entries.length)
        },
      },
    })
    await counting.close()
    expect(outcome).toMatchObject({ kind: 'switched', compared: { equal: true } })
    expect(kept.filter((entries) => entries > 0)).toEqual([])
    expect(await eventLog.deadLetters()).toBe(1)
  })

  test('that is stopped leaves the old read models in use and nothing behind', async () => {
    await append(600)
    await caughtUp()
    const stop = new AbortController()
    const screen = { write: (text: string) => text.startsWith('comparing') && stop.abort() }
    expect(await rebuild({ signal: stop.signal, screen })).toEqual({ kind: 'stopped' })
    expect(await store.currentGeneration()).toBe(1)
    expect(existsSync(join(directory, 'read-models-2.sqlite'))).toBe(false)
    expect(await rebuild({ signal: AbortSignal.abort() })).toEqual({ kind: 'stopped' })
    expect(await rebuild()).toMatchObject({ kind: 'switched', compared: { to: 4 } })
  })

  test('is the way out of a log that is another one, once it is forced', async () => {
    await append(3, 'of the lost log')
    await caughtUp()
    await stopProjector()
    await eventLog.close()
    for (const ending of ['', '-wal', '-shm']) {
      await rm(join(directory, `log.sqlite${ending}`), { force: true })
    }
    eventLog = openSqliteEventLog({ file: join(directory, 'log.sqlite'), clock })
    await append(5, 'of the new log')
    expect(await rebuild()).toMatchObject({
      kind: 'log too short',
      reason: expect.stringContaining('at offset 3 of partition 0 stands event'),
    })
    expect(await rebuild({ force: true })).toMatchObject({ kind: 'switched' })
    startProjector()
    await append(1, 'of the new log')
    await eventually(async () => (await counts())['of the new log']?.[0] === 6)
    expect(Object.keys(await counts())).toEqual(['of the new log'])
  })

  test('is not misled by devices that are erased before and meanwhile, and brings none back', async () => {
    const erased = ['long before', 'just before', 'building', 'comparing', 'switched']
    for (const deviceId of [...erased, 'stays']) await append(40, deviceId)
    await erase('long before')
    await caughtUp()
    await append(3, 'just before')
    await erase('just before')
    // The projector of the generation in use may or may not have come to it before it ends.
    const eraseAndRestart = async (deviceId: string) => {
      await erase(deviceId)
      await stopProjector()
      startProjector()
    }
    const erasing = new Map<string, Promise<void>>()
    const outcome = await rebuild({
      screen: {
        write(text) {
          const step = erased.find((name) => text.startsWith(name))
          if (step !== undefined && !erasing.has(step)) erasing.set(step, eraseAndRestart(step))
        },
      },
    })
    await Promise.all(erasing.values())
    expect(erasing.size).toBe(3)
    expect(outcome).toMatchObject({ kind: 'switched', compared: { equal: true } })
    await caughtUp()
    await eventually(async () => Object.keys(await counts()).join() === 'stays')
    for (const deviceId of erased) await append(2, deviceId)
    await caughtUp()
    const afresh = Object.fromEntries(erased.map((deviceId) => [deviceId, [2, 2]]))
    expect(await counts()).toEqual({ ...afresh, stays: [40, 40] })
    expect(await rebuild()).toMatchObject({ kind: 'switched', compared: { equal: true } })
    expect(await counts()).toEqual({ ...afresh, stays: [40, 40] })
  })

  test('that passes an erasure first lets go of what operators said of the device', async () => {
    await append(1, 'before')
    await append(1, 'meanwhile')
    await caughtUp()
    await stopProjector()
    for (const deviceId of ['before', 'meanwhile', 'stays']) await expectEvery(deviceId, T0)
    await erase('before')
    let erasing: Promise<void> | undefined
    const screen = {
      write(text: string) {
        if (text.startsWith('comparing')) erasing = erase('meanwhile')
      },
    }
    // Kept open until the new generation has passed the erasure, which the old one never does.
    const followedAfterMs = 3_000
    expect(await rebuild({ screen, followedAfterMs })).toMatchObject({ kind: 'switched' })
    await erasing
    startProjector()
    await caughtUp()
    expect(await store.devicesWithInterval('acc-1')).toEqual(['stays'])
  })

  test('leaves alone what operators said of a device when it passes an old erasure', async () => {
    await append(1)
    await erase('tracker-1')
    await caughtUp()
    // By a clock that is behind the one of who erased it.
    await expectEvery('tracker-1', T0 - 1)
    expect(await rebuild()).toMatchObject({ kind: 'switched' })
    expect(await store.devicesWithInterval('acc-1')).toEqual(['tracker-1'])
  })

  test('waits for no other rebuild', async () => {
    const other = await store.beginRebuild()
    const outcome = await rebuild()
    expect(outcome).toEqual({ kind: 'busy' })
    expect(report(outcome)).toContain('start this again')
    await other?.end()
  })
})
