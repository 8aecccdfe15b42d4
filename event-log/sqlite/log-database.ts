import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import { DependencyError } from '../../runtime/errors.ts'
import { withSqliteFailures } from './sqlite-failure.ts'

const BUSY_TIMEOUT_MS = 5000

/** One step a version; the database's `user_version` says how many of them it has had. */
const MIGRATIONS = [
  `
  -- AUTOINCREMENT: an offset is never given twice, also after the last rows are trimmed.
  CREATE TABLE events (
    offset INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL,
    type TEXT NOT NULL,
    id TEXT NOT NULL,
    received_at INTEGER NOT NULL,
    value BLOB
  ) STRICT;

  -- Events up to this offset are gone, or about to go.
  CREATE TABLE trimmed (one INTEGER PRIMARY KEY CHECK (one = 1), up_to INTEGER NOT NULL) STRICT;
  INSERT INTO trimmed VALUES (1, 0);

  CREATE TRIGGER events_are_never_changed BEFORE UPDATE ON events
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
  CREATE TRIGGER events_above_the_trim_mark_stay BEFORE DELETE ON events
    WHEN OLD.offset > (SELECT up_to FROM trimmed)
    BEGIN SELECT RAISE(ABORT, 'the log is append-only above its trim mark'); END;
  CREATE TRIGGER the_trim_mark_moves_forward BEFORE UPDATE ON trimmed
    WHEN NEW.up_to < OLD.up_to
    BEGIN SELECT RAISE(ABORT, 'the trim mark only moves forward'); END;
  CREATE TRIGGER the_trim_mark_stays BEFORE DELETE ON trimmed
    BEGIN SELECT RAISE(ABORT, 'the log needs its trim mark'); END;

  CREATE TABLE committed (consumer_group TEXT PRIMARY KEY, offset INTEGER NOT NULL) STRICT;

  CREATE TABLE dead_letters (
    partition INTEGER NOT NULL,
    offset INTEGER NOT NULL,
    reason TEXT NOT NULL,
    key BLOB,
    value BLOB,
    kept_at INTEGER NOT NULL,
    PRIMARY KEY (partition, offset)
  ) STRICT;

  CREATE TABLE probe (write INTEGER PRIMARY KEY, filler BLOB NOT NULL) STRICT;
  `,
  `
  CREATE TABLE rejections (
    offset INTEGER PRIMARY KEY AUTOINCREMENT,
    received_at INTEGER NOT NULL,
    value BLOB NOT NULL
  ) STRICT;
  CREATE INDEX rejections_by_age ON rejections (received_at);

  CREATE TABLE rejections_committed (
    consumer_group TEXT PRIMARY KEY,
    offset INTEGER NOT NULL
  ) STRICT;
  `,
]

/**
 * Opens the log's database, made or migrated where needed; several processes may do so at once.
 * Every commit is on the disk when it returns.
 * @throws {DependencyError} not retriable when a newer program has been at work on the file.
 */
export function openLogDatabase(file: string): DatabaseSyncInstance {
  return withSqliteFailures(`open ${file}`, () => {
    const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS })
    try {
      // With recursive triggers a row is not replaced past the trigger on deletion either.
      database.exec(`
        PRAGMA journal_mode = WAL;
        PRAGMA synchronous = FULL;
        PRAGMA recursive_triggers = ON;
      `)
      migrate(database, file)
    } catch (error) {
      database.close()
      throw error
    }
    return database
  })
}

/** Runs `work` in one transaction that is durable when this returns, or leaves nothing behind. */
export function inTransaction<T>(database: DatabaseSyncInstance, work: () => T): T {
  // A transaction that began as a reader could find the log locked when it comes to write.
  database.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    database.exec('COMMIT')
    return result
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}

function migrate(database: DatabaseSyncInstance, file: string) {
  if (schemaVersion(database) === MIGRATIONS.length) return
  inTransaction(database, () => {
    const version = schemaVersion(database)
    if (version > MIGRATIONS.length) {
      throw new DependencyError(
        `${file} was written by a newer version of this program (schema ${version}; this one ` +
          `knows up to ${MIGRATIONS.length}): start that version, or a newer one`,
        { retriable: false },
      )
    }
    for (const migration of MIGRATIONS.slice(version)) database.exec(migration)
    database.exec(`PRAGMA user_version = ${MIGRATIONS.length}`)
  })
}

function schemaVersion(database: DatabaseSyncInstance): number {
  const row = database.prepare('PRAGMA user_version').get() as { user_version: number }
  return row.user_version
}
