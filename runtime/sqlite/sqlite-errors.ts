import { DependencyError } from '../errors.ts'

// https://sqlite.org/rescode.html; the low byte of an extended code is the primary one.
const PERM = 3
const BUSY = 5
const LOCKED = 6
const NOMEM = 7
const READONLY = 8
const IOERR = 10
const FULL = 13
const CANTOPEN = 14
const PROTOCOL = 15

/** What the machine or another process causes: it passes, or somebody mends it, and no data is at fault. */
const PASSING = new Set([PERM, BUSY, LOCKED, NOMEM, READONLY, IOERR, FULL, CANTOPEN, PROTOCOL])

/**
 * Does `work`; what the driver throws leaves as a `DependencyError` that says `what` failed, anything
 * else as it is.
 */
export function translated<T>(what: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw dependencyError(what, error) ?? error
  }
}

export function isBusy(error: unknown): boolean {
  return primaryCode(error) === BUSY
}

function dependencyError(what: string, error: unknown): DependencyError | undefined {
  const code = primaryCode(error)
  if (code !== undefined) {
    return new DependencyError(`${what} failed: ${String((error as Error).message)}`, {
      retriable: PASSING.has(code),
      cause: error,
    })
  }
  if (isObject(error) && error['code'] === 'ERR_INVALID_STATE') {
    return new DependencyError(`${what} is closed`, { retriable: true, cause: error })
  }
  return undefined
}

/** The driver's errors belong to another realm at times, so they are known by their fields alone. */
function primaryCode(error: unknown): number | undefined {
  if (!isObject(error) || error['code'] !== 'ERR_SQLITE_ERROR') return undefined
  const code = error['errcode']
  return typeof code === 'number' ? code & 0xff : undefined
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
