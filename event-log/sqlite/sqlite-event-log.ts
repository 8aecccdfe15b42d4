import type { Database } from '../../runtime/sqlite/database.ts'
import type { EventLog } from '../event-log.ts'
import type { WarningLogger } from './group-readers.ts'
import { checkLogDatabase, openLogDatabase } from './log-database.ts'
import { sqliteLogReader, type SqliteLogReader } from './log-reader.ts'
import { sqliteLogWriter, type SqliteLogWriter } from './log-writer.ts'

export type SqliteEventLogOptions = {
  /** The database file; its directory must exist. */
  readonly file: string
  readonly clock: { now(): number }
  readonly logger?: WarningLogger
  /** How often rejected reports older than 7 days are removed; by default every 10 minutes. */
  readonly expireEveryMs?: number
}

export { checkLogDatabase as checkSqliteLog }

/**
 * The event log in one SQLite file: one partition, offsets from 1 without gaps. Appends of one
 * event-loop turn share a commit. Several processes may open the file.
 * @throws {DependencyError} when the file cannot be opened, or is of a newer version.
 */
export function openSqliteEventLog({ file, ...rest }: SqliteEventLogOptions): EventLog {
  return sqliteEventLogOn(openLogDatabase(file), rest)
}

/** The log on a database opened by `openLogDatabase`; closing the log closes the database. */
export function sqliteEventLogOn(
  database: Database,
  { clock, logger = { warn() {} }, expireEveryMs }: Omit<SqliteEventLogOptions, 'file'>,
): EventLog {
  const writer = sqliteLogWriter(database, {
    clock,
    expireEveryMs,
    onAppended: () => reader.appended(),
    onTopicAppended: (topic) => reader.appendedTo(topic),
  })
  const reader = sqliteLogReader(database, {
    clock,
    logger,
    commitTopic: writer.commitTopic,
  })
  return {
    ...writer,
    ...reader,
    rejections: { ...reader.rejections, ...writer.rejections },
    deadLetters: { ...reader.deadLetters, ...writer.deadLetters },
    close: closeOnce(database, async () => {
      await writer.close()
      await reader.close()
    }),
  }
}

/** The log for the only writing thread; `onAppended` and `onTopicAppended` wake its readers. */
export function openSqliteLogWriter({
  file,
  ...rest
}: { file: string } & Parameters<typeof sqliteLogWriter>[1]): SqliteLogWriter {
  const database = openLogDatabase(file)
  const writer = sqliteLogWriter(database, rest)
  return { ...writer, close: closeOnce(database, () => writer.close()) }
}

/** The log for a read-only thread; its writer has opened it before. */
export function openSqliteLogReader({
  file,
  ...rest
}: { file: string } & Parameters<typeof sqliteLogReader>[1]): SqliteLogReader {
  const database = openLogDatabase(file, { readOnly: true })
  const reader = sqliteLogReader(database, rest)
  return { ...reader, close: closeOnce(database, () => reader.close()) }
}

function closeOnce(database: Database, finish: () => Promise<void>): () => Promise<void> {
  let closing: Promise<void> | undefined
  return () => (closing ??= finish().then(() => database.close()))
}
