import { DependencyError } from '../../runtime/errors.ts'

/** Primary result codes (https://www.sqlite.org/rescode.html) that can pass without a change of ours. */
const PASSING = new Set([
  5, // SQLITE_BUSY
  6, // SQLITE_LOCKED
  7, // SQLITE_NOMEM
  8, // SQLITE_READONLY
  10, // SQLITE_IOERR
  13, // SQLITE_FULL
  14, // SQLITE_CANTOPEN
  15, // SQLITE_PROTOCOL
])

/**
 * Runs `work` and throws what SQLite reports as a `DependencyError`, `retriable` when the disk, its
 * space or a lock is at fault; other errors (ours) pass as they are.
 */
export function withSqliteFailures<T>(doing: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    const resultCode = sqliteResultCode(error)
    if (resultCode === undefined) throw error
    throw new DependencyError(`the event log could not ${doing}: ${(error as Error).message}`, {
      retriable: PASSING.has(resultCode),
      cause: error,
    })
  }
}

/** Errors of the driver may come from another realm, so their class tells nothing. */
function sqliteResultCode(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('errcode' in error)) return undefined
  // The low byte of an extended result code is the primary one.
  return typeof error.errcode === 'number' ? error.errcode & 0xff : undefined
}
