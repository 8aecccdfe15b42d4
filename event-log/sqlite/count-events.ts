import { openLogDatabase } from './log-database.ts'

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
