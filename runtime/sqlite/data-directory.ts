import { chmodSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { DependencyError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import { isBusy, translated } from './sqlite-errors.ts'

/** Exists, and is empty, wherever a service has run. */
export const LOCK = 'in-use.lock'

/**
 * Creates the directory if needed, and restricts it and its files, including those that this process
 * creates later, to the current user: they hold positions and hashes of keys and passwords.
 */
export function privateDirectory(
  directory: string,
  { logger }: { logger: Pick<Logger, 'warn'> },
): void {
  process.umask(0o077)
  mkdirSync(directory, { recursive: true })
  try {
    chmodSync(directory, 0o700)
    for (const entry of readdirSync(directory, { withFileTypes: true })) {
      if (entry.isFile()) chmodSync(join(directory, entry.name), 0o600)
    }
  } catch (error) {
    // A directory of another user, or a file system without modes: keep it as it was set up.
    logger.warn({ err: error, directory }, 'the data directory cannot be made private')
  }
}

/**
 * Locks a directory, so that no two processes use it at once. The operating system releases the lock
 * when the process ends, even by kill -9. `variable` is the setting that names the directory.
 * @throws {Error} when another process holds it.
 */
export function holdDirectory(
  directory: string,
  { variable }: { variable: string },
): { release(): void } {
  const held = holdFile(join(directory, LOCK), { waitMs: 1_000 })
  if (held !== undefined) return held
  throw new Error(
    `another process works on ${directory}: stop it, or set ${variable} to another folder`,
  )
}

/**
 * Locks a directory for a command that works on the data of `npm start` while that is stopped. `task`:
 * the command's task, for the message.
 * @throws {Error} when the service runs there.
 */
export function holdStopped(directory: string, { task }: { task: string }): { release(): void } {
  const held = holdFile(join(directory, LOCK), { waitMs: 0 })
  if (held !== undefined) return held
  throw new Error(`the service is running on ${directory}: stop it, ${task}, start it again`)
}

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
