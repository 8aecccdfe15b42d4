import { chmodSync, readdirSync } from 'node:fs'
import { readFile, readdir, rename, stat, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { DependencyError, reasonOf } from '../errors.ts'
import type { Logger } from '../process/logger.ts'
import { explainOpening, isWritable, requireWritableDirectory, makeDirectory } from './opening.ts'
import { isBusy } from './sqlite-errors.ts'

/** An empty lock file that exists wherever a service has run. */
export const LOCK = 'in-use.lock'

/** The remedy for a damaged file that holds only the lock. */
const REMOVE_IT = 'remove it, it holds no data'

const LAST_BACKUP = 'last-backup.json'

/**
 * Creates the directory if needed, and restricts it and its files, including those that this
 * process creates later, to the current user: they hold positions and hashes of keys and passwords.
 * `variable` is the setting that names the directory.
 * @throws {Error} when it cannot be created or written.
 */
export function privateDirectory(
  directory: string,
  { variable, logger }: { variable: string; logger: Pick<Logger, 'warn'> },
): void {
  process.umask(0o077)
  makeDirectory(directory, { variable })
  requireWritableDirectory(directory, { variable })
  try {
    chmodSync(directory, 0o700)
    for (const entry of readdirSync(directory, { withFileTypes: true })) {
      const file = join(directory, entry.name)
      // The code that opens the other files reports that they cannot be written.
      if (entry.isFile() && isWritable(file)) chmodSync(file, 0o600)
    }
  } catch (error) {
    // A directory of another user, or a file system without modes: leave it as it was set up.
    const reason = `${reasonOf(error)}: give ${directory} to the user who runs this, or other users may read it`
    logger.warn({ reason }, 'could not make the data directory private')
  }
}

/**
 * Locks a directory, so that no two processes use it together. The operating system releases the
 * lock when the process ends, even by kill -9. `variable` is the setting that names the directory.
 * @throws {Error} when another process holds it.
 */
export function holdDirectory(
  directory: string,
  { variable }: { variable: string },
): { release(): void } {
  const held = holdFile(join(directory, LOCK), { waitMs: 1_000 })
  if (held !== undefined) return held
  throw new Error(
    `another process uses ${directory}: stop it, or set ${variable} to another folder`,
  )
}

/**
 * Locks a directory for a command that works on the data of `npm start` while that is stopped.
 * `task`: the command's task, for the message.
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
  const driver = explainOpening({ file, called: file, ifDamaged: REMOVE_IT }, () => {
    return new DatabaseSync(file, { timeout: waitMs })
  })
  try {
    explainOpening({ file, called: file, ifDamaged: REMOVE_IT }, () =>
      driver.exec('BEGIN EXCLUSIVE'),
    )
  } catch (error) {
    driver.close()
    if (error instanceof DependencyError && isBusy(error.cause)) return undefined
    throw error
  }
  return { release: () => driver.close() }
}

/** The bytes used by the files of a data directory. */
export async function dataBytes(directory: string): Promise<number> {
  const entries = await readdir(directory, { withFileTypes: true })
  const sizes = entries.filter((entry) => entry.isFile()).map(({ name }) => sizeOf(directory, name))
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}

/** The bytes that this user can still write to the disk of a directory. */
export async function freeBytes(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory)
  return bavail * bsize
}

/** Records in a data directory when its newest backup started. `at`: milliseconds since epoch. */
export async function noteBackup(directory: string, at: number): Promise<void> {
  const file = join(directory, LAST_BACKUP)
  await writeFile(`${file}.new`, JSON.stringify({ at }), { mode: 0o600 })
  await rename(`${file}.new`, file)
}

/** Returns the start time of a data directory's newest backup; undefined if none was recorded. */
export async function lastBackupAt(directory: string): Promise<number | undefined> {
  try {
    const { at } = JSON.parse(await readFile(join(directory, LAST_BACKUP), 'utf8')) as {
      at?: unknown
    }
    return typeof at === 'number' && Number.isFinite(at) ? at : undefined
  } catch {
    return undefined
  }
}

/** 0 for a file removed just now, such as SQLite's journals. */
async function sizeOf(directory: string, name: string): Promise<number> {
  try {
    return (await stat(join(directory, name))).size
  } catch {
    return 0
  }
}
