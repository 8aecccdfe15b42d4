import type { Database } from '../../runtime/sqlite/database.ts'

/** As many records are indexed within about a second. */
const INDEXED_AT_ONCE = 1_000_000

/**
 * Gives the records the index in whose order histories are read. Versions up to 0.2.0 ended theirs with the
 * recordId: SQLite reads in the same order through it, sorting what has the same time, so that a large file
 * keeps it, and opens at the speed of a small one. The next rebuild makes a file with the smaller index.
 */
export function useHistoryIndex(database: Database, { most = INDEXED_AT_ONCE } = {}): void {
  const older = database.prepare<object>('PRAGMA index_info(records_by_time)')
  const newest = database.prepare<{ number: number | null }>(
    'SELECT max(rowid) AS number FROM records',
  )
  if (older.get() === undefined || (newest.get()?.number ?? 0) > most) return
  database.transaction(() => {
    // Another process may have done it meanwhile.
    if (older.get() === undefined) return
    database.exec(
      `CREATE INDEX records_by_place ON records (device, timestamp, log_partition, log_offset);
       DROP INDEX records_by_time`,
    )
  })
}
