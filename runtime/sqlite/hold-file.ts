import { DatabaseSync } from '@photostructure/sqlite'
import { DependencyError } from '../errors.ts'
import { isBusy, translated } from './sqlite-errors.ts'

/**
 * Holds a lock file, made if it is not there; undefined when another process has it for longer than
 * `waitMs`. The hold is the operating system's: it ends with the process, however that ends.
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
