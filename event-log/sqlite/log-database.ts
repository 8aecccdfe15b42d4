import { Database, type DatabaseOptions } from '../../runtime/sqlite/database.ts'
import { topicTable } from './topic.ts'

const CALLED = 'the event log'

/** One step per version; the database's `user_version` counts those applied. */
const MIGRATIONS = [
  `
  -- AUTOINCREMENT: an offset is never given twice, also after the last rows are trimmed.
  CREATE TABLE events (
    offset INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL,
    type TEXT NOT NULL,
    id TEXT NOT NULL,
    received_at INTEGER NOT NULL,
    value BLOB,
    spooled INTEGER NOT NULL DEFAULT 0
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

  CREATE TABLE probe (write INTEGER PRIMARY KEY, filler BLOB NOT NULL) STRICT;

  CREATE TABLE committed (
    topic TEXT NOT NULL,
    consumer_group TEXT NOT NULL,
    offset INTEGER NOT NULL,
    PRIMARY KEY (topic, consumer_group)
  ) STRICT;
  ${topicTable('report-rejected')}
  ${topicTable('dead-letter')}
  `,
]

/**
 * Checks a log's file, if it exists, without changing it.
 * @throws {DependencyError} that says why this program cannot use the file, and what to do.
 */
export function checkLogDatabase(file: string): void {
  Database.check(file, MIGRATIONS, { called: CALLED })
}

/**
 * Opens the log's database, created or migrated as needed; several processes may do so concurrently.
 * Commits are on disk when they return. Opening it read-only requires an existing, migrated file.
 * @throws {DependencyError} not retriable when a newer version of the program has changed the
 *   file.
 */
export function openLogDatabase(
  file: string,
  options: Pick<DatabaseOptions, 'busyTimeoutMs' | 'readOnly'> = {},
): Database {
  return new Database(file, MIGRATIONS, { called: CALLED, ...options })
}

/** The number of events in a log's file: fewer than its extent if any were lost. */
export function countSqliteEvents(file: string): number {
  const database = openLogDatabase(file)
  try {
    const counting = database.prepare<{ count: number }>('SELECT count(*) AS count FROM events')
    return counting.get()?.count ?? 0
  } finally {
    database.close()
  }
}
