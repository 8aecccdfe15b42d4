import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { DependencyError, reasonOf } from '../errors.ts'
import { requireWritableFile } from './require-writable.ts'
import { isDamaged, isFull, isRefusedByDisk, translation } from './sqlite-errors.ts'

/** A file that is being opened. */
export type OpenedFile = {
  readonly file: string
  /** The name in error messages. */
  readonly called: string
  /** The remedy for a damaged file, for the message. */
  readonly ifDamaged: string
}

/** Less than what opening a new file writes. */
const ROOM_BYTES = 256 * 1024

/**
 * Runs `work`, which opens a file, and explains its failure by what the file system shows: SQLite does not
 * say which permission lacks, or that a disk is full when it could not even make a file.
 * @throws {DependencyError}
 */
export function opening<T>(opened: OpenedFile, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw explained(translation(`${opened.called} (${opened.file})`, error), opened)
  }
}

/** The error with a reason that says what to do, if the file system or the file shows one. */
export function explained(error: unknown, opened: OpenedFile): unknown {
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
