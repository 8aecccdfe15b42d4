import { DatabaseSync } from '@photostructure/sqlite'
import { DependencyError } from '../errors.ts'
import { isBusy, translated } from './sqlite-errors.ts'

/**
 * Locks a file, which it creates if needed; undefined if another process holds it for longer than
 * `waitMs`. The operating system releases the lock when the process ends, even by kill -9.
 * @throws {DependencyError} when the file cannot be opened.
 */
export function holdFile(
  file: string,
  { waitMs }: { waitMs: number },
): { release(): void } | undefined {
  const driver = translated(file, () => new DatabaseSync(file, { timeout: waitMs }))
  try {
    translated(file, () => driver.exec('BEGIN EXCLUSIVE'))
  } catch (error) {
    driver.close()
    if (error instanceof DependencyError && isBusy(error.cause)) return undefined
    throw error
  }
  return { release: () => driver.close() }
}
