import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from '@jest/globals'
import { DatabaseSync } from '@photostructure/sqlite'
import type { EventLog, LogEntry, TailItem } from '../../../event-log/event-log.ts'
import { openSqliteEventLog } from '../../../event-log/sqlite/sqlite-event-log.ts'
import type { OpenedEventLog, OpenEventLog } from '../../contracts/event-log-contract.ts'
import { eventually } from '../../eventually.ts'
import { positionReported, T0 } from '../../samples.ts'

export const DAY_MS = 24 * 60 * 60 * 1000

/** A folder for a log's file, for each test; what it has opened is closed after the test. */
export function logFilesForEachTest() {
  const opened: EventLog[] = []
  const clock = { time: T0, now: () => clock.time }
  const files = {
    folder: '',
    file: '',
    /** A day after the samples start. */
    clock,

    open: (): EventLog => files.remember(openSqliteEventLog({ file: files.file, clock })),

    remember(log: EventLog): EventLog {
      opened.push(log)
      return log
    },

    commitsInWal: (): number => commitsIn(readFileSync(`${files.file}-wal`)),
  }

  beforeEach(() => {
    files.folder = mkdtempSync(join(tmpdir(), 'event-log-'))
    files.file = join(files.folder, 'log.sqlite')
    clock.time = T0 + DAY_MS
  })

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((log) => log.close()))
    rmSync(files.folder, { recursive: true })
  })

  return files
}

/** An empty log in a separate folder, as the contract wants it; `wrap` puts another before it. */
export async function openEmptyLog(
  options: Parameters<OpenEventLog>[0],
  wrap: (log: EventLog, folder: string) => EventLog = (log) => log,
): Promise<OpenedEventLog> {
  const folder = mkdtempSync(join(tmpdir(), 'event-log-'))
  const file = join(folder, 'log.sqlite')
  const logs: EventLog[] = []
  const open = () => {
    const log = wrap(openSqliteEventLog({ file, ...options }), folder)
    logs.push(log)
    return log
  }
  return {
    log: open(),
    keepsOffsets: false,
    reopen: async () => open(),
    putRaw: async (value, key, marks) => putRow(file, { key, value, ...marks }),
    async putRawRejection(value) {
      const columns = '(id, time, value, headers)'
      run(file, `INSERT INTO "report-rejected" ${columns} VALUES (?, ?, ?, '{}')`, [
        ...[randomUUID(), options.clock.now(), value],
      ])
    },
    async close() {
      await Promise.all(logs.map((log) => log.close()))
      rmSync(folder, { recursive: true })
    },
  }
}

export function events(count: number, changes: Parameters<typeof positionReported>[0] = {}) {
  return Array.from({ length: count }, () => positionReported(changes))
}

/** Everything the log holds now. */
export async function readAll(log: EventLog): Promise<LogEntry[]> {
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

export async function readTail(
  log: EventLog,
  after: 'end' | Record<number, number>,
  count: number,
) {
  const items: TailItem[] = []
  const stop = new AbortController()
  for await (const item of log.tail({ after, signal: stop.signal })) {
    items.push(item)
    if (items.length === count) stop.abort()
  }
  return items
}

export function kinds(items: readonly TailItem[]): string[] {
  return items.map((item) =>
    item.kind === 'gap' ? 'gap' : item.entries.map(({ origin }) => origin.offset).join(' '),
  )
}

/** Writes a row as no append would. */
export function putRow(
  file: string,
  row: {
    readonly value: Uint8Array | null
    readonly key?: string
    readonly type?: string
    readonly id?: string
    readonly receivedAt?: number
  },
) {
  const { value, key = 'acc-1/tracker-1', id = 'raw', receivedAt = T0 } = row
  const { type = 'PositionReported.v1' } = row
  const columns = '(key, type, id, received_at, value)'
  run(file, `INSERT INTO events ${columns} VALUES (?, ?, ?, ?, ?)`, [
    ...[key, type, id, receivedAt, value],
  ])
}

function run(file: string, sql: string, values: readonly (string | number | Uint8Array | null)[]) {
  const database = new DatabaseSync(file, { timeout: 5000 })
  database.prepare(sql).run(...values)
  database.close()
}

/** Transactions in the write-ahead log (https://www.sqlite.org/fileformat2.html#walformat). */
function commitsIn(wal: Buffer): number {
  const frameSize = 24 + wal.readUInt32BE(8)
  let commits = 0
  for (let frame = 32; frame + frameSize <= wal.length; frame += frameSize) {
    const ofThisLog = wal.compare(wal, 16, 24, frame + 8, frame + 16) === 0
    // Only the last frame of a transaction says how large the database is then.
    if (ofThisLog && wal.readUInt32BE(frame + 4) > 0) commits += 1
  }
  return commits
}
