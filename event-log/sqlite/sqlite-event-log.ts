import { setImmediate as endOfTurn } from 'node:timers/promises'
import type { DatabaseSyncInstance } from '@photostructure/sqlite'
import { DependencyError } from '../../runtime/errors.ts'
import { checkDeviceErased, DEVICE_ERASED, type DeviceErased } from '../../schemas/device-erased.ts'
import {
  deviceKey,
  encodePositionReported,
  POSITION_REPORTED,
  type PositionReported,
} from '../../schemas/position-reported.ts'
import type { EventLog } from '../event-log.ts'
import { gatheringWriter } from '../gathering-writer.ts'
import { batchReader, PARTITION } from './batch-reader.ts'
import { inTransaction, openLogDatabase } from './log-database.ts'
import { logReaders } from './log-readers.ts'
import { sqliteRejections } from './rejections.ts'
import { withSqliteFailures } from './sqlite-failure.ts'

const PROBE_VALID_MS = 1000
/** More than a few appends need: a disk that has room for one page only is full. */
const PROBE_BYTES = 32 * 1024
/** Rows a transaction of `trim` takes, so that appends wait only shortly for it. */
const TRIM_CHUNK = 1000

export type SqliteEventLogOptions = {
  /** The database file; its folder must be there. */
  readonly file: string
  readonly clock: { now(): number }
  readonly logger?: { warn(fields: object, message: string): void }
}

/**
 * The event log in one SQLite file: one partition, offsets from 1 without holes. Appends of one
 * event-loop turn share a commit. Several processes may have the file open.
 * @throws {DependencyError} when the file cannot be opened, or is of a newer version.
 */
export function openSqliteEventLog({ file, ...rest }: SqliteEventLogOptions): EventLog {
  return sqliteEventLogOn(openLogDatabase(file), rest)
}

/** The log on a database that `openLogDatabase` has opened; closing the log closes it. */
export function sqliteEventLogOn(
  database: DatabaseSyncInstance,
  { clock, logger = { warn() {} } }: Omit<SqliteEventLogOptions, 'file'>,
): EventLog {
  const statements = prepare(database)
  const readBatch = batchReader(database)
  let open = true
  let closing: Promise<void> | undefined
  let probe: { readonly at: number; readonly outcome: Promise<void> } | undefined

  const writer = gatheringWriter<Row>({
    async writeBatch(rows) {
      change('write', () => {
        for (const row of rows) statements.insert.run(...row)
      })
      readers.appended()
    },
  })
  const readers = logReaders({
    read: (after) => attempt('be read', () => readBatch(after)),
    commit: (group, offset) => change('commit', () => statements.commit.run(group, offset)),
    trimmedUpTo,
    logger,
  })
  const rejections = sqliteRejections({ database, attempt, change, clock, logger })

  return {
    async append(events) {
      // Encoded before it is queued: what cannot be encoded must not spoil others' batches.
      const rows = events.map(toRow)
      await writer.write(
        rows,
        rows.map(sizeOf).reduce((sum, bytes) => sum + bytes, 0),
      )
    },

    async erase(event) {
      const row = toErasureRow(event)
      await writer.write([row], sizeOf(row))
    },

    appendRejections: (events) => rejections.appendRejections(events),

    subscribeRejections: (subscription) => rejections.subscribeRejections(subscription),

    async subscribe({ group, resumeAfter, onBatch, signal }) {
      if (signal.aborted) return
      const after = resumeAfter === undefined ? committed(group) : (resumeAfter[PARTITION] ?? 0)
      if (after > lastOffset()) {
        throw new DependencyError(
          `${group} is to resume after offset ${after}, but the log ends at ${lastOffset()}: it is not the log that these read models were made from`,
          { retriable: false },
        )
      }
      if (resumeAfter !== undefined) {
        change('commit', () => statements.commit.run(group, after))
      }
      const resumesByCommit = resumeAfter === undefined
      await readers.deliver({ group, after, onBatch, signal, resumesByCommit })
    },

    tail({ after, signal }) {
      const end = lastOffset()
      // An offset beyond the end is of another log: nothing that comes must be left out for it.
      const start = after === 'end' ? end : Math.min(after[PARTITION] ?? 0, end)
      return readers.follow({ after: start, signal })
    },

    async deadLetter(entries) {
      if (entries.length === 0) return
      const keptAt = clock.now()
      change('keep dead letters', () => {
        for (const { origin, reason, key, value } of entries) {
          statements.deadLetter.run(origin.partition, origin.offset, reason, key, value, keptAt)
        }
      })
    },

    async lag(group) {
      return attempt('be read', () => {
        const after = Math.max(committed(group), trimmedUpTo())
        const oldest = statements.oldestAfter.get(after) as { receivedAt: number } | undefined
        if (oldest === undefined) return { events: 0, seconds: 0 }
        const seconds = Math.max(0, (clock.now() - oldest.receivedAt) / 1000)
        return { events: lastOffset() - after, seconds }
      })
    },

    async committed(group) {
      const offset = committed(group)
      return offset === 0 ? {} : { [PARTITION]: offset }
    },

    async extent() {
      const first = trimmedUpTo() + 1
      return [{ partition: PARTITION, first, next: lastOffset() + 1, whole: first === 1 }]
    },

    async deadLetters() {
      return attempt('be read', () => numberFrom(statements.countDeadLetters.get()))
    },

    async trim(receivedBefore) {
      let chunk
      do {
        chunk = attempt('be read', () => statements.oldest.all(TRIM_CHUNK) as TrimRow[])
        const stays = chunk.findIndex(({ receivedAt }) => receivedAt >= receivedBefore)
        // Only what stands before the first event that stays: a hole in the log would look whole.
        if (stays !== -1) chunk = chunk.slice(0, stays)
        const last = chunk.at(-1)
        if (last === undefined) return
        change('trim', () => {
          statements.moveTrimMark.run(last.offset)
          statements.deleteTrimmed.run()
          statements.deleteTrimmedDeadLetters.run(PARTITION)
        })
        await endOfTurn()
      } while (chunk.length === TRIM_CHUNK)
    },

    ready() {
      const now = clock.now()
      // A probe of a later time: the clock was set back, and might be for long.
      const fresh = probe !== undefined && probe.at <= now && now < probe.at + PROBE_VALID_MS
      const current = fresh && closing === undefined ? probe : undefined
      probe = current ?? { at: now, outcome: tryToWrite() }
      return probe.outcome
    },

    close() {
      closing ??= close()
      return closing
    },
  }

  async function tryToWrite() {
    if (closing !== undefined) {
      throw new DependencyError('the event log is closing', { retriable: true })
    }
    change('write', () => {
      // Kept until the next one: what is deleted in its own transaction need not reach the disk.
      statements.writeProbe.run(PROBE_BYTES)
      statements.deleteOldProbes.run()
    })
  }

  async function close() {
    await Promise.all([writer.close(), rejections.close()])
    await readers.stop()
    open = false
    database.close()
  }

  function committed(group: string): number {
    return attempt('be read', () => numberFrom(statements.committed.get(group)))
  }

  function lastOffset(): number {
    return attempt('be read', () => numberFrom(statements.lastOffset.get()))
  }

  function trimmedUpTo(): number {
    return attempt('be read', () => numberFrom(statements.trimmedUpTo.get()))
  }

  /** A transaction of its own, durable when this returns. */
  function change(doing: string, work: () => void) {
    attempt(doing, () => inTransaction(database, work))
  }

  function attempt<T>(doing: string, work: () => T): T {
    if (!open) throw new DependencyError('the event log is closed', { retriable: true })
    return withSqliteFailures(doing, work)
  }
}

/** About what a row takes besides its value. */
const ROW_OVERHEAD_BYTES = 128

type Row = [key: string, type: string, id: string, receivedAt: number, value: Uint8Array | null]
type TrimRow = { readonly offset: number; readonly receivedAt: number }

function toRow(event: PositionReported): Row {
  return [
    deviceKey(event),
    POSITION_REPORTED,
    event.recordId,
    event.receivedAt,
    Buffer.from(encodePositionReported(event)),
  ]
}

/** Under the device's key and without a value. It is checked: nobody could read it otherwise. */
function toErasureRow(event: DeviceErased): Row {
  const { eventId, erasedAt } = checkDeviceErased(event)
  return [deviceKey(event), DEVICE_ERASED, eventId, erasedAt, null]
}

function sizeOf([key, , , , value]: Row): number {
  return ROW_OVERHEAD_BYTES + (value?.byteLength ?? key.length)
}

function numberFrom(row: unknown): number {
  return (row as { n: number } | undefined)?.n ?? 0
}

function prepare(database: DatabaseSyncInstance) {
  return {
    insert: database.prepare(
      'INSERT INTO events (key, type, id, received_at, value) VALUES (?, ?, ?, ?, ?)',
    ),
    // The sequence outlives the rows that trimming takes.
    lastOffset: database.prepare(`SELECT seq AS n FROM sqlite_sequence WHERE name = 'events'`),
    oldest: database.prepare(
      'SELECT offset, received_at AS receivedAt FROM events ORDER BY offset LIMIT ?',
    ),
    oldestAfter: database.prepare(
      'SELECT received_at AS receivedAt FROM events WHERE offset > ? ORDER BY offset LIMIT 1',
    ),
    commit: database.prepare(
      `INSERT INTO committed (consumer_group, offset) VALUES (?, ?)
       ON CONFLICT (consumer_group) DO UPDATE SET offset = excluded.offset`,
    ),
    committed: database.prepare('SELECT offset AS n FROM committed WHERE consumer_group = ?'),
    deadLetter: database.prepare(
      `INSERT INTO dead_letters (partition, offset, reason, key, value, kept_at)
       VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    ),
    countDeadLetters: database.prepare('SELECT count(*) AS n FROM dead_letters'),
    trimmedUpTo: database.prepare('SELECT up_to AS n FROM trimmed'),
    moveTrimMark: database.prepare('UPDATE trimmed SET up_to = max(up_to, ?)'),
    deleteTrimmed: database.prepare(
      'DELETE FROM events WHERE offset <= (SELECT up_to FROM trimmed)',
    ),
    deleteTrimmedDeadLetters: database.prepare(
      `DELETE FROM dead_letters WHERE partition = ? AND offset <= (SELECT up_to FROM trimmed)`,
    ),
    writeProbe: database.prepare('INSERT INTO probe (filler) VALUES (randomblob(?))'),
    deleteOldProbes: database.prepare('DELETE FROM probe WHERE write < last_insert_rowid()'),
  }
}
