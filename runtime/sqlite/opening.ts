import { statfsSync, accessSync, constants, mkdirSync, rmdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DependencyError, reasonOf } from '../errors.ts'
import { isDamaged, isFull, isRefusedByDisk, translation } from './sqlite-errors.ts'

/** A file being opened. */
export type OpenedFile = {
  readonly file: string
  /** The name in error messages. */
  readonly called: string
  /** The remedy for a damaged file, for the message. */
  readonly ifDamaged: string
}

/** Required free space; less than opening a new file writes. */
const ROOM_BYTES = 256 * 1024

/**
 * Runs `work`, which opens a file, and explains its failure from the state of the file system:
 * SQLite does not say which permission is missing, or that the disk was too full to create the
 * file.
 * @throws {DependencyError}
 */
export function explainOpening<T>(opened: OpenedFile, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw explainOpenError(translation(`${opened.called} (${opened.file})`, error), opened)
  }
}

/** The error with the reason and the remedy, if the file system or the file shows them. */
export function explainOpenError(error: unknown, opened: OpenedFile): unknown {
  if (!(error instanceof DependencyError)) return error
  const reason = reasonFor(error, opened)
  if (reason === undefined) return error
  return new DependencyError(reason, { retriable: error.retriable, cause: error.cause })
}

function reasonFor(error: DependencyError, { file, ifDamaged }: OpenedFile): string | undefined {
  if (isDamaged(error)) {
    return `${file} is damaged (${reasonOf(error.cause)}): ${ifDamaged}`
  }
  const directory = dirname(file)
  if (isFull(error) || (isRefusedByDisk(error) && !hasRoom(directory))) {
    return `the disk of ${directory} is full: make room there`
  }
  if (!isRefusedByDisk(error)) return undefined
  try {
    requireWritableFile(file)
    return undefined
  } catch (refusal) {
    return reasonOf(refusal)
  }
}

function hasRoom(directory: string): boolean {
  try {
    const { bavail, bsize, ffree, files } = statfsSync(directory)
    return bavail * bsize >= ROOM_BYTES && (files === 0 || ffree > 0)
  } catch {
    return true
  }
}

/** SQLite creates and removes the last two. */
const ENDINGS = ['', '-wal', '-shm']

/**
 * Checks that this user can write to a directory. `variable` is the setting that names it.
 * @throws {Error} that says what to do.
 */
export function requireWritableDirectory(
  directory: string,
  { variable }: { variable: string },
): void {
  const { R_OK, W_OK, X_OK } = constants
  const fault = faultOf(directory, R_OK | W_OK | X_OK, directory)
  if (fault === undefined) return
  const otherwise = `or set ${variable} to another folder`
  throw new Error(`the folder ${directory} (${variable}) ${fault}, ${otherwise}`)
}

/**
 * Checks that this user can write to a database file, if it exists.
 * @throws {Error} that says what to do.
 */
export function requireWritableFile(file: string): void {
  for (const path of ENDINGS.map((ending) => file + ending)) {
    const fault = faultOf(path, constants.R_OK | constants.W_OK, dirname(file))
    if (fault !== undefined) throw new Error(`the file ${path} ${fault}`)
  }
}

export function isWritable(file: string): boolean {
  return faultOf(file, constants.W_OK, dirname(file)) === undefined
}

/** Undefined if the path can be accessed, or does not exist. */
function faultOf(path: string, mode: number, directory: string): string | undefined {
  try {
    accessSync(path, mode)
    return undefined
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    if (code === 'EROFS') return 'is on a read-only file system: mount it so that it can be written'
    const user = process.getuid?.()
    if (user === undefined) return `cannot be written (${code}): change its permissions`
    return (
      `cannot be written by the user ${user}, who runs this: as root do \`chown -R ${user} ${directory}\`` +
      ' (of a container: on the mounted folder of the host)'
    )
  }
}

/**
 * Creates a directory and the missing ones above it. Returns the topmost directory created,
 * undefined if the directory exists. Node's own `recursive` never returns where a file system
 * refuses new directories with ENOENT, as /proc does. `variable` is the setting that names the
 * directory.
 * @throws {Error} that names the directory; nothing created remains then.
 */
export function makeDirectory(
  directory: string,
  { mode, variable }: { mode?: number; variable?: string } = {},
): string | undefined {
  const missing: string[] = []
  for (let path = resolve(directory); !isDirectory(path); path = dirname(path)) missing.push(path)
  const made: string[] = []
  try {
    for (const path of missing.reverse()) if (makeOne(path, mode)) made.push(path)
  } catch (error) {
    for (const path of made.reverse()) rmdirSync(path)
    const { code, path, message } = error as NodeJS.ErrnoException
    const reason = code === 'EEXIST' ? `${path} is not a folder` : message
    const remedy = variable === undefined ? 'choose another one' : `set ${variable} to another one`
    throw new Error(`the folder ${directory} cannot be created (${reason}): ${remedy}`, {
      cause: error,
    })
  }
  return made[0]
}

/** Creates a file. False if another process has created it in the meantime. */
function makeOne(path: string, mode: number | undefined): boolean {
  try {
    mkdirSync(path, mode)
    return true
  } catch (error) {
    if (isDirectory(path)) return false
    throw error
  }
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
