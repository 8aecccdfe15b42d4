import { backup, DatabaseSync } from '@photostructure/sqlite'
import { translated, translation } from '../../runtime/sqlite/sqlite-errors.ts'

const PAGES_AT_ONCE = 1_000
const BUSY_TIMEOUT_MS = 5_000

/**
 * Copies a database to a file that does not exist yet, as it is when the copy begins, while other processes write it.
 * `onProgress` gets the part that is done, from 0 to 1.
 * @throws {DependencyError} also when the disk is full.
 */
export async function copyDatabase(
  from: string,
  to: string,
  onProgress: (part: number) => void,
): Promise<void> {
  const opening = { readOnly: true, timeout: BUSY_TIMEOUT_MS }
  const source = translated(from, () => new DatabaseSync(from, opening))
  try {
    // One state for the whole copy. Without it the copy would start again after every write.
    translated(from, () => source.exec('BEGIN; SELECT 1 FROM sqlite_schema'))
    const progress = (pages: { totalPages: number; remainingPages: number }) =>
      onProgress(1 - pages.remainingPages / Math.max(1, pages.totalPages))
    await backup(source, to, { rate: PAGES_AT_ONCE, progress })
    onProgress(1)
  } catch (error) {
    throw translation(`copying ${from} to ${to}`, error)
  } finally {
    source.close()
  }
}

/**
 * Reads a whole database and compares its tables with their indexes.
 * @throws {DependencyError | Error} when it is damaged.
 */
export function checkDatabase(file: string): void {
  const database = translated(file, () => new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS }))
  try {
    const check = database.prepare('PRAGMA integrity_check(1)')
    const result = translated(file, () => check.get() as { integrity_check: string })
    if (result.integrity_check !== 'ok') {
      throw new Error(`${file} is damaged: ${result.integrity_check}`)
    }
  } finally {
    database.close()
  }
}
