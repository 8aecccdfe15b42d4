/** @node all */
import { describe, expect, test } from '@jest/globals'
import { DatabaseSync } from '@photostructure/sqlite'
import { openLogDatabase } from '../../../event-log/sqlite/log-database.ts'
import { sqliteEventLogOn } from '../../../event-log/sqlite/sqlite-event-log.ts'
import { eventLogContract } from '../../contracts/event-log-contract.ts'
import { recordId } from '../../contracts/event-log-suite.ts'
import { eventually } from '../../eventually.ts'
import { statementsStayFast } from '../../runtime/sqlite/statements-stay-fast.ts'
import { deviceErased, positionReported } from '../../samples.ts'
import {
  events,
  kinds,
  logFilesForEachTest,
  openEmptyLog,
  putRow,
  readAll,
  readTail,
} from './log-files.ts'

statementsStayFast(() => eventLogContract('SQLite', (options) => openEmptyLog(options)), {
  'scans trimmed': 'one row',
  'scans sqlite_sequence': 'one row',
  'scans events: SELECT offset, received_at AS receivedAt FROM events ORDER BY offset LIMIT ?':
    'in the order of its key, up to a limit',
  'scans dead-letter': 'there are few',
  'scans report-rejected: SELECT count(*) AS count FROM "report-rejected"':
    'only dead letters are counted',
})

const ID = '01KDVDNA00Z6JGGE5XXD5XW7P3'

describe('the SQLite event log', () => {
  const files = logFilesForEachTest()

  test('appends of one event-loop turn share one commit', async () => {
    const log = files.open()
    const before = files.commitsInWal()
    await Promise.all(events(100).map((event) => log.append([event])))
    expect(files.commitsInWal() - before).toBe(1)
    await Promise.all(events(600).map((event) => log.append([event])))
    expect(files.commitsInWal() - before).toBe(3)
  })

  test('a report is written before hundreds of waiting ones, and an erasure after its device’s reports', async () => {
    const log = files.open()
    const history = positionReported({ deviceId: 'history' })
    const report = positionReported({ deviceId: 'tug', recordId: ID })
    await Promise.all([
      log.append(Array<typeof history>(500).fill(history)),
      log.append([report]),
      log.erase(deviceErased({ deviceId: 'history' })),
    ])
    const kept = await readAll(log)
    expect(kept.map(recordId).indexOf(ID)).toBe(0)
    expect(kept.at(-1)?.kind).toBe('erasure')
  })

  test('the log refuses to change, replace or delete an event', async () => {
    const log = files.open()
    await log.append(events(2))
    const database = openLogDatabase(files.file)
    for (const tampering of [
      'UPDATE events SET received_at = 0',
      `UPDATE events SET value = x'7b7d' WHERE offset = 1`,
      'DELETE FROM events WHERE offset = 1',
      'DELETE FROM events',
      `REPLACE INTO events SELECT offset, key, type, 'x', received_at, value, spooled FROM events`,
    ]) {
      expect(() => database.prepare(tampering).run()).toThrow('append-only')
    }
    expect(() => database.prepare('UPDATE trimmed SET up_to = -1').run()).toThrow(
      'only moves forward',
    )
    expect(() => database.prepare('DELETE FROM trimmed').run()).toThrow('needs its trim mark')
    database.close()
    expect(await readAll(log)).toHaveLength(2)
  })

  test('a tail from beyond the end, of another log, misses no new entry', async () => {
    const log = files.open()
    await log.append(events(2))
    const reading = readTail(log, { 0: 1000 }, 1)
    await log.append(events(1))
    expect(kinds(await reading)).toEqual(['3'])
  })

  test('read models of another log are rejected instead of skipping events', async () => {
    const log = files.open()
    await log.append(events(2))
    const subscription = log.subscribe({
      group: 'projector',
      resumeAfter: async () => ({ 0: 3 }),
      onBatch: async () => {},
      signal: new AbortController().signal,
    })
    await expect(subscription).rejects.toMatchObject({ name: 'DependencyError', retriable: false })
  })

  test('a group with its own checkpoint writes nothing into the log, and its lag counts from there', async () => {
    const log = files.open()
    await log.append(events(3, { receivedAt: files.clock.time - 5000 }))
    expect(await log.lag('projector', { 0: 1 })).toEqual({ events: 2, seconds: 5 })
    expect(await log.lag('projector', { 0: 3 })).toEqual({ events: 0, seconds: 0 })
    const before = files.commitsInWal()
    const taken: string[] = []
    const stop = new AbortController()
    const subscription = log.subscribe({
      group: 'projector',
      resumeAfter: async () => ({ 0: 1 }),
      onBatch: async ({ entries }) => void taken.push(...entries.map(({ kind }) => kind)),
      signal: stop.signal,
    })
    await eventually(() => taken.length === 2)
    stop.abort()
    await subscription
    expect(files.commitsInWal()).toBe(before)
  })

  test('an entry dead-lettered twice is stored once', async () => {
    const log = files.open()
    putRow(files.file, { value: Buffer.from([0xff, 0x00]) })
    const entries = (await readAll(log)).flatMap((e) => (e.kind === 'unreadable' ? [e] : []))
    await log.deadLetters.append(entries)
    await log.deadLetters.append(entries)
    expect(await log.deadLetters.count()).toBe(1)
    const database = new DatabaseSync(files.file)
    const kept = database.prepare('SELECT * FROM "dead-letter"').get() as Record<string, unknown>
    database.close()
    expect(Buffer.from(kept['value'] as Uint8Array)).toEqual(Buffer.from([0xff, 0x00]))
    expect(kept).toMatchObject({ id: 'events/0/1', time: files.clock.time })
  })

  test('an append wakes a subscription immediately', async () => {
    const log = files.open()
    const stop = new AbortController()
    let delivered = 0
    const subscription = log.subscribe({
      group: 'projector',
      onBatch: async ({ entries }) => void (delivered += entries.length),
      signal: stop.signal,
    })
    await log.append(events(1))
    await new Promise(setImmediate)
    expect(delivered).toBe(1)
    stop.abort()
    await subscription
  })

  test('an append wakes a tail immediately', async () => {
    const log = files.open()
    const stop = new AbortController()
    const tail = log.tail({ after: 'end', signal: stop.signal })[Symbol.asyncIterator]()
    let woken = false
    const reading = tail.next().then(() => (woken = true))
    await log.append(events(1))
    await new Promise(setImmediate)
    expect(woken).toBe(true)
    await reading
    stop.abort()
    await tail.next()
  })

  test('closing waits for the current batch', async () => {
    const log = files.open()
    await log.append(events(1))
    let release = () => {}
    const released = new Promise<void>((resolve) => (release = resolve))
    let inHand = false
    const subscription = log.subscribe({
      group: 'projector',
      onBatch: async () => {
        inHand = true
        await released
      },
      signal: new AbortController().signal,
    })
    await eventually(() => inHand)
    let closed = false
    const closing = log.close().then(() => (closed = true))
    for (let turn = 0; turn < 100; turn += 1) await new Promise(setImmediate)
    expect(closed).toBe(false)
    release()
    await Promise.all([closing, subscription])
  })

  test('a full disk fails appends and readiness as retriable, and both recover', async () => {
    const database = openLogDatabase(files.file)
    const log = files.remember(sqliteEventLogOn(database, { clock: files.clock }))
    const acknowledged = events(10)
    await log.append(acknowledged)
    await log.ready()
    const pages = database.prepare<{ page_count: number }>('PRAGMA page_count').get()
    database.prepare(`PRAGMA max_page_count = ${pages?.page_count}`).get()

    const full = { name: 'DependencyError', retriable: true, cause: { errcode: 13 } }
    await expect(log.append(events(1000))).rejects.toMatchObject(full)
    files.clock.time += 1000
    await expect(log.ready()).rejects.toMatchObject(full)
    expect((await readAll(log)).map(recordId)).toEqual(acknowledged.map((e) => e.recordId))

    database.prepare('PRAGMA max_page_count = 100000').get()
    files.clock.time += 1000
    await log.ready()
    const later = events(1000)
    await log.append(later)
    expect((await readAll(log)).map(recordId)).toEqual(
      [...acknowledged, ...later].map((e) => e.recordId),
    )
  })

  test('while another process locks the log, appending and readiness fail as retriable', async () => {
    const database = openLogDatabase(files.file, { busyTimeoutMs: 20 })
    const log = files.remember(sqliteEventLogOn(database, { clock: files.clock }))
    const other = new DatabaseSync(files.file)
    other.exec('BEGIN IMMEDIATE')
    const busy = { name: 'DependencyError', retriable: true, cause: { errcode: 5 } }
    await expect(log.append(events(1))).rejects.toMatchObject(busy)
    await expect(log.ready()).rejects.toMatchObject(busy)
    other.exec('COMMIT')
    other.close()

    await expect(log.ready()).rejects.toMatchObject(busy)
    files.clock.time += 1000
    await log.ready()
    await log.append(events(1))
    expect(await readAll(log)).toHaveLength(1)
  })

  test('readiness really writes, once a second at most', async () => {
    const log = files.open()
    const before = files.commitsInWal()
    await log.ready()
    await log.ready()
    expect(files.commitsInWal() - before).toBe(1)
    files.clock.time += 1000
    await log.ready()
    expect(files.commitsInWal() - before).toBe(2)
  })

  test('a caller that trusts the last write causes no other, until one fails or it is too old', async () => {
    const database = openLogDatabase(files.file)
    const log = files.remember(sqliteEventLogOn(database, { clock: files.clock }))
    const trusting = () => log.ready({ writtenWithinMs: 60_000 })
    const before = files.commitsInWal()
    const commits = () => files.commitsInWal() - before
    await trusting()
    expect(commits()).toBe(1)
    files.clock.time += 59_999
    await trusting()
    expect(commits()).toBe(1)
    files.clock.time += 1
    await trusting()
    expect(commits()).toBe(2)
    files.clock.time += 50_000
    await log.append(events(1))
    files.clock.time += 50_000
    await trusting()
    expect(commits()).toBe(3)

    const pages = database.prepare<{ page_count: number }>('PRAGMA page_count').get()
    database.prepare(`PRAGMA max_page_count = ${pages?.page_count}`).get()
    await expect(log.append(events(1000))).rejects.toMatchObject({ cause: { errcode: 13 } })
    database.prepare('PRAGMA max_page_count = 100000').get()
    await trusting()
    expect(commits()).toBe(4)
  })

  test('an event that cannot be encoded is a permanent failure and affects no other', async () => {
    const log = files.open()
    const bad = positionReported({ timestamp: NaN })
    const [first, second, third] = await Promise.allSettled([
      log.append(events(1)),
      log.append([bad]),
      log.append(events(1)),
    ])
    expect([first?.status, second?.status, third?.status]).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
    ])
    expect(second).not.toHaveProperty('reason.retriable', true)
    expect(await readAll(log)).toHaveLength(2)
  })
})
