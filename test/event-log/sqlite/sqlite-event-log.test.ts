import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { DatabaseSync } from '@photostructure/sqlite'
import type { EventLog, LogEntry, TailItem } from '../../../event-log/event-log.ts'
import { openLogDatabase } from '../../../event-log/sqlite/log-database.ts'
import { openSqliteEventLog, sqliteEventLogOn } from '../../../event-log/sqlite/sqlite-event-log.ts'
import { eventLogContract } from '../../contracts/event-log-contract.ts'
import { eventually } from '../../eventually.ts'
import { positionReported, T0 } from '../../samples.ts'

const BUILD = fileURLToPath(new URL('../../../scripts/build.mjs', import.meta.url))
const COMPILED = new URL('../../../dist/event-log/sqlite/sqlite-event-log.js', import.meta.url).href
const DAY_MS = 24 * 60 * 60 * 1000

let folder: string
let file: string
let now: number
const clock = { now: () => now }
const opened: EventLog[] = []
const children: ChildProcess[] = []

// Other processes run the compiled program; nothing happens here where it is current.
beforeAll(() => promisify(execFile)(process.execPath, [BUILD]), 120_000)

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'event-log-'))
  file = join(folder, 'log.sqlite')
  now = T0 + DAY_MS
})

afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  await Promise.all(opened.splice(0).map((log) => log.close()))
  rmSync(folder, { recursive: true })
})

// With a folder of its own: the next test's log is opened while one runs.
eventLogContract('SQLite', async (options) => {
  const own = mkdtempSync(join(tmpdir(), 'event-log-'))
  const ownFile = join(own, 'log.sqlite')
  const logs: EventLog[] = []
  const open = () => {
    const log = openSqliteEventLog({ file: ownFile, ...options })
    logs.push(log)
    return log
  }
  return {
    log: open(),
    keepsOffsets: false,
    reopen: async () => open(),
    putRaw: async (value, key, marks) => putRow({ file: ownFile, key, value, ...marks }),
    putRawRejection: async (value) => putRejection(ownFile, value),
    close: async () => {
      await Promise.all(logs.map((log) => log.close()))
      rmSync(own, { recursive: true })
    },
  }
})

describe('the SQLite event log', () => {
  test('appends of one event-loop turn share one commit', async () => {
    const log = openLog()
    const before = commitsInWal()
    await Promise.all(events(100).map((event) => log.append([event])))
    expect(commitsInWal() - before).toBe(1)
    await Promise.all(events(600).map((event) => log.append([event])))
    expect(commitsInWal() - before).toBe(3)
  })

  test('no event is ever changed, replaced or deleted, whoever tries', async () => {
    const log = openLog()
    await log.append(events(2))
    const database = openLogDatabase(file)
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

  test('trimming removes what was received before the time, and no offset is given again', async () => {
    const log = openLog()
    await log.append(events(3, { receivedAt: T0 }))
    await log.trim(T0 + 1)
    expect(await readAll(log)).toEqual([])
    const next = positionReported({ receivedAt: T0 + 1 })
    await log.append([next])
    await log.trim(T0 + 1)
    expect(await readAll(log)).toEqual([
      { kind: 'position', origin: { partition: 0, offset: 4 }, event: next },
    ])
    await log.trim(T0 - DAY_MS)
    expect(await readAll(log)).toHaveLength(1)
  })

  test('trimming stops at the first event that stays, however many chunks are before it', async () => {
    const log = openLog()
    const old = { receivedAt: T0 }
    await log.append(events(2500, old))
    const kept = [positionReported({ receivedAt: T0 + DAY_MS }), positionReported(old)]
    await log.append(kept)
    await log.trim(T0 + 1)
    expect((await readAll(log)).map(({ origin }) => origin.offset)).toEqual([2501, 2502])
    await log.append(events(1))
    expect(await readAll(log)).toHaveLength(3)
  })

  test('trimming takes the dead letters of what it removes', async () => {
    const log = openLog()
    for (const receivedAt of [T0, T0 + DAY_MS]) putRow({ value: Buffer.from('?'), receivedAt })
    const unreadable = (await readAll(log)).flatMap((e) => (e.kind === 'unreadable' ? [e] : []))
    await log.deadLetter(unreadable)
    expect(await log.deadLetters()).toBe(2)
    await log.trim(T0 + 1)
    expect(await log.deadLetters()).toBe(1)
  })

  test('a tail from before the trim mark begins with one gap', async () => {
    const log = openLog()
    await log.append(events(3, { receivedAt: T0 }))
    await log.append(events(2))
    await log.trim(T0 + 1)
    expect(kinds(await readTail(log, { 0: 1 }, 2))).toEqual(['gap', '4 5'])
    expect(kinds(await readTail(log, {}, 2))).toEqual(['gap', '4 5'])
    expect(kinds(await readTail(log, { 0: 3 }, 1))).toEqual(['4 5'])
  })

  test('a slow tail that retention overtakes is told so', async () => {
    const log = openLog()
    await log.append(events(501, { receivedAt: T0 }))
    const stop = new AbortController()
    const tail = log.tail({ after: {}, signal: stop.signal })[Symbol.asyncIterator]()
    const first = (await tail.next()).value as TailItem
    expect(first).toMatchObject({ kind: 'batch', lastOffset: 500 })
    await log.append(events(1))
    await log.trim(T0 + 1)
    expect((await tail.next()).value).toEqual({ kind: 'gap', partition: 0 })
    expect((await tail.next()).value).toMatchObject({ kind: 'batch', lastOffset: 502 })
    stop.abort()
    expect(await tail.next()).toEqual({ done: true, value: undefined })
  })

  test('a tail from beyond the end, of another log, leaves nothing out that comes', async () => {
    const log = openLog()
    await log.append(events(2))
    const reading = readTail(log, { 0: 1000 }, 1)
    await log.append(events(1))
    expect(kinds(await reading)).toEqual(['3'])
  })

  test('read models of another log are refused instead of leaving out events', async () => {
    const log = openLog()
    await log.append(events(2))
    const subscription = log.subscribe({
      group: 'projector',
      resumeAfter: { 0: 3 },
      onBatch: async () => {},
      signal: new AbortController().signal,
    })
    await expect(subscription).rejects.toMatchObject({ name: 'DependencyError', retriable: false })
  })

  test('a group with a mark of its own writes nothing into the log, and its lag counts from there', async () => {
    const log = openLog()
    await log.append(events(3, { receivedAt: now - 5000 }))
    expect(await log.lag('projector', { 0: 1 })).toEqual({ events: 2, seconds: 5 })
    expect(await log.lag('projector', { 0: 3 })).toEqual({ events: 0, seconds: 0 })
    const before = commitsInWal()
    const taken: string[] = []
    const stop = new AbortController()
    const subscription = log.subscribe({
      group: 'projector',
      resumeAfter: { 0: 1 },
      onBatch: async ({ entries }) => void taken.push(...entries.map(({ kind }) => kind)),
      signal: stop.signal,
    })
    await eventually(() => taken.length === 2)
    stop.abort()
    await subscription
    expect(commitsInWal()).toBe(before)
    expect(await log.committed('projector')).toEqual({})
  })

  test('what was trimmed is no lag', async () => {
    const log = openLog()
    await log.append(events(3, { receivedAt: T0 }))
    await log.append(events(2, { receivedAt: now - 5000 }))
    await log.trim(T0 + 1)
    expect(await log.lag('projector')).toEqual({ events: 2, seconds: 5 })
  })

  test('an entry that is dead-lettered again is kept once', async () => {
    const log = openLog()
    putRow({ value: Buffer.from([0xff, 0x00]) })
    const entries = (await readAll(log)).flatMap((e) => (e.kind === 'unreadable' ? [e] : []))
    await log.deadLetter(entries)
    await log.deadLetter(entries)
    expect(await log.deadLetters()).toBe(1)
    const database = new DatabaseSync(file)
    const kept = database.prepare('SELECT * FROM dead_letters').get() as Record<string, unknown>
    database.close()
    expect(Buffer.from(kept['value'] as Uint8Array)).toEqual(Buffer.from([0xff, 0x00]))
    expect(kept).toMatchObject({ partition: 0, offset: 1, kept_at: now })
  })

  test('a subscription is woken by an append at once', async () => {
    const log = openLog()
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

  test('a tail is woken by an append at once', async () => {
    const log = openLog()
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

  test('closing waits for the batch in hand', async () => {
    const log = openLog()
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

  test('a full disk fails appends and readiness as retriable, keeps nothing, and passes', async () => {
    const database = openLogDatabase(file)
    const log = remember(sqliteEventLogOn(database, { clock }))
    const acknowledged = events(10)
    await log.append(acknowledged)
    await log.ready()
    const pages = database.prepare<{ page_count: number }>('PRAGMA page_count').get()
    database.prepare(`PRAGMA max_page_count = ${pages?.page_count}`).get()

    const full = { name: 'DependencyError', retriable: true, cause: { errcode: 13 } }
    await expect(log.append(events(1000))).rejects.toMatchObject(full)
    now += 1000
    await expect(log.ready()).rejects.toMatchObject(full)
    expect((await readAll(log)).map(recordId)).toEqual(acknowledged.map((e) => e.recordId))

    database.prepare('PRAGMA max_page_count = 100000').get()
    now += 1000
    await log.ready()
    const later = events(1000)
    await log.append(later)
    expect((await readAll(log)).map(recordId)).toEqual(
      [...acknowledged, ...later].map((e) => e.recordId),
    )
  })

  test('while another process holds the log, appending and readiness fail as retriable', async () => {
    const database = openLogDatabase(file, { busyTimeoutMs: 20 })
    const log = remember(sqliteEventLogOn(database, { clock }))
    const other = new DatabaseSync(file)
    other.exec('BEGIN IMMEDIATE')
    const busy = { name: 'DependencyError', retriable: true, cause: { errcode: 5 } }
    await expect(log.append(events(1))).rejects.toMatchObject(busy)
    await expect(log.ready()).rejects.toMatchObject(busy)
    other.exec('COMMIT')
    other.close()

    await expect(log.ready()).rejects.toMatchObject(busy)
    now += 1000
    await log.ready()
    await log.append(events(1))
    expect(await readAll(log)).toHaveLength(1)
  })

  test('readiness really writes, once a second at most', async () => {
    const log = openLog()
    const before = commitsInWal()
    await log.ready()
    await log.ready()
    expect(commitsInWal() - before).toBe(1)
    now += 1000
    await log.ready()
    expect(commitsInWal() - before).toBe(2)
  })

  test('an event that cannot be encoded is no passing failure and spoils no other', async () => {
    const log = openLog()
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

  test('the file of a newer program is refused, and left as it is', async () => {
    await openLog().close()
    const database = new DatabaseSync(file)
    database.exec('PRAGMA user_version = 99')
    database.close()
    expect(() => openLog()).toThrow(/schema version 99.* a newer version/)
  })

  test('a file of the version that kept offsets loses them and nothing else', async () => {
    const event = positionReported()
    const before = openLog()
    await before.append([event])
    await before.close()
    const old = new DatabaseSync(file)
    old.exec(`CREATE TABLE committed (consumer_group TEXT PRIMARY KEY, offset INTEGER NOT NULL) STRICT;
      INSERT INTO committed VALUES ('projector', 1);
      ALTER TABLE events DROP COLUMN spooled;
      PRAGMA user_version = 2`)
    old.close()
    expect((await readAll(openLog())).map(recordId)).toEqual([event.recordId])
    const tables = openLogDatabase(file, { readOnly: true })
    expect(tables.prepare(`SELECT * FROM sqlite_schema WHERE name = 'committed'`).get()).toBe(
      undefined,
    )
    tables.close()
  })

  test('a file that is no database, or in a folder that is not there, is refused by name', () => {
    writeFileSync(file, 'minutes of the meeting '.repeat(100))
    expect(() => openLog()).toThrow(expect.objectContaining({ retriable: false }))
    const missing = join(folder, 'missing', 'log.sqlite')
    expect(() => openSqliteEventLog({ file: missing, clock })).toThrow(missing)
  })

  test('what another process appends to the file arrives', async () => {
    const log = openLog()
    const stop = new AbortController()
    const arrived: (string | undefined)[] = []
    const subscription = log.subscribe({
      group: 'projector',
      onBatch: async ({ entries }) => void arrived.push(...entries.map(recordId)),
      signal: stop.signal,
    })
    const tailed = readTail(log, 'end', 1)
    const writer = startWriter({ appends: 20 })
    const mine = events(20)
    for (const event of mine) await log.append([event])
    await once(writer.child, 'exit')
    await eventually(() => arrived.length >= 40)
    expect(new Set(arrived)).toEqual(
      new Set([...mine.map((event) => event.recordId), ...writer.acknowledged]),
    )
    expect((await tailed).length).toBe(1)
    stop.abort()
    await subscription
  })

  test('after kill -9 every acknowledged event is in the log, once and in order', async () => {
    const acknowledged: string[] = []
    for (let round = 0; round < 3; round += 1) {
      const writer = startWriter({ appends: Infinity })
      await eventually(() => writer.acknowledged.length >= 50 + 70 * round)
      writer.child.kill('SIGKILL')
      await once(writer.child, 'close')
      acknowledged.push(...writer.acknowledged)
    }
    const stored = (await readAll(openLog())).map(recordId)
    expect(new Set(stored).size).toBe(stored.length)
    const known = new Set(acknowledged)
    expect(stored.filter((id) => known.has(id!))).toEqual(acknowledged)
  })

  test('programs that open a new file in the same moment all succeed', async () => {
    const writers = Array.from({ length: 4 }, () => startWriter({ appends: 5 }))
    const codes = await Promise.all(writers.map(({ child }) => once(child, 'exit')))
    expect(codes.map(([code]) => code as number)).toEqual([0, 0, 0, 0])
    expect(await readAll(openLog())).toHaveLength(20)
  })
})

function remember(log: EventLog): EventLog {
  opened.push(log)
  return log
}

function openLog(): EventLog {
  return remember(openSqliteEventLog({ file, clock }))
}

function events(count: number, changes: Parameters<typeof positionReported>[0] = {}) {
  return Array.from({ length: count }, () => positionReported(changes))
}

function recordId(entry: LogEntry): string | undefined {
  return entry.kind === 'position' ? entry.event.recordId : undefined
}

/** Everything the log holds now. */
async function readAll(log: EventLog): Promise<LogEntry[]> {
  const group = randomUUID()
  const { events: expected } = await log.lag(group)
  const entries: LogEntry[] = []
  const stop = new AbortController()
  const subscription = log.subscribe({
    group,
    onBatch: async (batch) => void entries.push(...batch.entries),
    signal: stop.signal,
  })
  await eventually(() => entries.length >= expected)
  stop.abort()
  await subscription
  return entries
}

async function readTail(log: EventLog, after: 'end' | Record<number, number>, count: number) {
  const items: TailItem[] = []
  const stop = new AbortController()
  for await (const item of log.tail({ after, signal: stop.signal })) {
    items.push(item)
    if (items.length === count) stop.abort()
  }
  return items
}

function kinds(items: readonly TailItem[]): string[] {
  return items.map((item) =>
    item.kind === 'gap' ? 'gap' : item.entries.map(({ origin }) => origin.offset).join(' '),
  )
}

/** Writes a row as no append would. */
function putRow(row: {
  readonly file?: string
  readonly value: Uint8Array | null
  readonly key?: string
  readonly type?: string
  readonly id?: string
  readonly receivedAt?: number
}) {
  const { value, key = 'acc-1/tracker-1', id = 'raw', receivedAt = T0 } = row
  const { type = 'PositionReported.v1', file: into = file } = row
  const database = new DatabaseSync(into, { timeout: 5000 })
  database
    .prepare('INSERT INTO events (key, type, id, received_at, value) VALUES (?, ?, ?, ?, ?)')
    .run(key, type, id, receivedAt, value)
  database.close()
}

function putRejection(into: string, value: Uint8Array) {
  const database = new DatabaseSync(into, { timeout: 5000 })
  database.prepare('INSERT INTO rejections (received_at, value) VALUES (?, ?)').run(now, value)
  database.close()
}

/** Transactions in the write-ahead log (https://www.sqlite.org/fileformat2.html#walformat). */
function commitsInWal(): number {
  const wal = readFileSync(`${file}-wal`)
  const frameSize = 24 + wal.readUInt32BE(8)
  let commits = 0
  for (let frame = 32; frame + frameSize <= wal.length; frame += frameSize) {
    const ofThisLog = wal.compare(wal, 16, 24, frame + 8, frame + 16) === 0
    // Only the last frame of a transaction says how large the database is then.
    if (ofThisLog && wal.readUInt32BE(frame + 4) > 0) commits += 1
  }
  return commits
}

/** Another process that appends to the file and prints what was acknowledged. */
function startWriter({ appends }: { appends: number }) {
  const program = `
    const { openSqliteEventLog } = await import(${JSON.stringify(COMPILED)})
    const { writeSync } = await import('node:fs')
    const { randomUUID } = await import('node:crypto')
    const log = openSqliteEventLog({ file: process.argv[1], clock: { now: Date.now } })
    const event = ${JSON.stringify(positionReported())}
    for (let append = 0; append < Number(process.argv[2]); append += 1) {
      const recordId = '0' + randomUUID().replaceAll('-', '').slice(0, 25).toUpperCase()
      await log.append([{ ...event, recordId }])
      writeSync(1, recordId + '\\n')
    }
    await log.close()`
  const child = spawn(
    process.execPath,
    ['--input-type=module', '-e', program, file, String(appends)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  children.push(child)
  const acknowledged: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => acknowledged.push(line))
  return { child, acknowledged }
}
