import { DependencyError } from '../errors.ts'

// https://sqlite.org/rescode.html; the low byte of an extended code is the primary one.
const PERM = 3
const BUSY = 5
const LOCKED = 6
const NOMEM = 7
const READONLY = 8
const IOERR = 10
const CORRUPT = 11
const FULL = 13
const CANTOPEN = 14
const PROTOCOL = 15
const TOOBIG = 18
const CONSTRAINT = 19
const MISMATCH = 20
const NOTADB = 26
const CONSTRAINT_UNIQUE = 2067

/** Errors caused by the machine or another process, not by the data: a retry may succeed. */
const PASSING = new Set([PERM, BUSY, LOCKED, NOMEM, READONLY, IOERR, FULL, CANTOPEN, PROTOCOL])

/**
 * Runs `work`. Errors of the driver become `DependencyError`s that name `what` failed; others are
 * rethrown unchanged.
 */
export function translateErrors<T>(operation: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw translation(operation, error)
  }
}

/** The error to throw for a driver error. */
export function translation(operation: string, error: unknown): unknown {
  return dependencyError(operation, error) ?? error
}

export function isBusy(error: unknown): boolean {
  return primaryCode(error) === BUSY
}

/** Whether a statement failed because the disk is full. */
export function isFull(error: unknown): boolean {
  return causeCode(error) === FULL
}

/** Whether the file is not a database, or a damaged one. */
export function isDamaged(error: unknown): boolean {
  const code = causeCode(error)
  return code === CORRUPT || code === NOTADB
}

/**
 * Whether a file could not be opened or written for a reason that its permissions or its disk may
 * explain.
 */
export function isRefusedByDisk(error: unknown): boolean {
  return [PERM, READONLY, IOERR, CANTOPEN].includes(causeCode(error) ?? 0)
}

/** Whether a row was rejected because another row has the same unique values. */
export function isNotUnique(error: unknown): boolean {
  return error instanceof DependencyError && extendedCode(error.cause) === CONSTRAINT_UNIQUE
}

/** Whether data was rejected because of its content: other data can be written, this data never. */
export function isRefused(error: unknown): boolean {
  return [TOOBIG, CONSTRAINT, MISMATCH].includes(causeCode(error) ?? 0)
}

function causeCode(error: unknown): number | undefined {
  return error instanceof DependencyError ? primaryCode(error.cause) : undefined
}

function dependencyError(operation: string, error: unknown): DependencyError | undefined {
  const code = primaryCode(error)
  if (code !== undefined) {
    return new DependencyError(`${operation} failed: ${String((error as Error).message)}`, {
      retriable: PASSING.has(code),
      cause: error,
    })
  }
  if (isObject(error) && error['code'] === 'ERR_INVALID_STATE') {
    return new DependencyError(`${operation} is closed`, { retriable: true, cause: error })
  }
  return undefined
}

function primaryCode(error: unknown): number | undefined {
  const code = extendedCode(error)
  return code === undefined ? undefined : code & 0xff
}

/** Checks fields, not instanceof: the driver's errors may come from another realm. */
function extendedCode(error: unknown): number | undefined {
  if (!isObject(error) || error['code'] !== 'ERR_SQLITE_ERROR') return undefined
  const code = error['errcode']
  return typeof code === 'number' ? code : undefined
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
