import {
  BSON,
  MongoBulkWriteError,
  MongoClientClosedError,
  MongoError,
  MongoInvalidArgumentError,
  MongoNetworkError,
  MongoNotConnectedError,
  MongoServerSelectionError,
  MongoTopologyClosedError,
  MongoWriteConcernError,
} from 'mongodb'
import { DependencyError } from '../../runtime/errors.ts'

const DUPLICATE_KEY = 11_000
const UNAUTHORIZED = 13
const AUTHENTICATION_FAILED = 18

/**
 * Server codes after which the same call may succeed, from MongoDB's list of error codes: hosts and
 * sockets (6, 7, 89, 9001), time limits (24, 50, 202, 262), a primary that steps down, restarts or
 * is still unknown (91, 133, 134, 189, 10058, 10107, 11600, 11602, 13435, 13436), an unmet write
 * concern (64, 100), a lost race (112), a full disk (14031).
 */
const RETRIABLE_CODES = new Set<unknown>([
  6, 7, 24, 50, 64, 89, 91, 100, 112, 133, 134, 189, 202, 262, 9001, 10058, 10107, 11600, 11602,
  13435, 13436, 14031,
])

/** Converts the driver's errors to the port's; other errors stay unchanged. */
export function dependencyError(error: unknown): unknown {
  if (!(error instanceof MongoError)) return error
  if (error.code === UNAUTHORIZED) {
    const needed = 'the user of MONGODB_URL needs the roles readWrite and dbAdmin on its database'
    return new DependencyError(`MongoDB: ${error.message}: ${needed}`, {
      retriable: false,
      cause: error,
    })
  }
  return new DependencyError(`MongoDB: ${error.message}`, {
    retriable: isRetriable(error),
    cause: error,
  })
}

/** The server did not respond in time. */
export class NoAnswerError extends DependencyError {
  constructor(message: string) {
    super(message, { retriable: true })
  }
}

/** Whether the server cannot be reached, or rejects this client. */
export function isAway(error: unknown): boolean {
  return (
    error instanceof NoAnswerError ||
    error instanceof MongoNetworkError ||
    error instanceof MongoServerSelectionError ||
    (error instanceof MongoError && (error.code === AUTHENTICATION_FAILED || isPoolError(error)))
  )
}

export function isUnauthorized(error: unknown): boolean {
  return error instanceof MongoError && error.code === UNAUTHORIZED
}

/** Whether a write failed only because of a unique index. */
export function isDuplicateKey(error: unknown): error is MongoError {
  return error instanceof MongoBulkWriteError
    ? duplicatesOf(error) !== undefined
    : error instanceof MongoError && error.code === DUPLICATE_KEY
}

/**
 * Returns the positions, within the bulk, of writes that a unique index refused; undefined if
 * anything else failed too. Then the state of the other writes is unknown: a lost connection is
 * reported as a bulk error without write errors, an unmet write concern as one beside them.
 */
export function duplicatesOf(error: unknown): readonly number[] | undefined {
  if (!(error instanceof MongoBulkWriteError)) return undefined
  const writeErrors = [error.writeErrors].flat()
  if (writeErrors.length === 0) return undefined
  if (writeErrors.some(({ code }) => code !== DUPLICATE_KEY)) return undefined
  if (error.result.getWriteConcernError() !== undefined) return undefined
  return writeErrors.map(({ index }) => index)
}

/**
 * Codes of writes that the server will never accept because of the document: invalid or too long
 * (2, 16, 22), against the collection's validation (121), larger than 16 MB (10334, 17419, 17420).
 */
const REFUSED_CODES = new Set<unknown>([2, 16, 22, 121, 10_334, 17_419, 17_420])

/** Whether the driver refuses to send it: it cannot be encoded, or is larger than 16 MB. */
export function isRefusedByDriver(error: unknown): boolean {
  // Checks the name, because a Node error may come from another realm.
  if ((error as Partial<Error>).name === 'RangeError') return true
  if (error instanceof BSON.BSONError) return true
  return error instanceof MongoInvalidArgumentError && /larger than/.test(error.message)
}

/**
 * The errors of a bulk's writes that the server refused because of their documents, by index, if
 * all others are written or failed because of a unique index; undefined: try again.
 */
export function refusalsOf(error: unknown): ReadonlyMap<number, unknown> | undefined {
  if (!(error instanceof MongoBulkWriteError)) return undefined
  const writeErrors = [error.writeErrors].flat()
  if (writeErrors.length === 0 || error.result.getWriteConcernError() !== undefined)
    return undefined
  const isKnown = writeErrors.every(({ code }) => code === DUPLICATE_KEY || REFUSED_CODES.has(code))
  if (!isKnown) return undefined
  const refused = writeErrors.filter(({ code }) => code !== DUPLICATE_KEY)
  return new Map(refused.map((one) => [one.index, one]))
}

function isRetriable(error: MongoError): boolean {
  if (
    error instanceof MongoNetworkError ||
    error instanceof MongoServerSelectionError ||
    error instanceof MongoWriteConcernError ||
    error instanceof MongoNotConnectedError ||
    error instanceof MongoTopologyClosedError ||
    error instanceof MongoClientClosedError
  ) {
    return true
  }
  // A cleared, paused, closed or full pool is only recognisable by the error's name.
  if (isPoolError(error)) return true
  // A failure of the whole bulk (a lost connection, no server) is wrapped in a bulk error.
  if (error instanceof MongoBulkWriteError) {
    const inner: unknown = error.errorResponse
    if (inner instanceof MongoError) return isRetriable(inner)
  }
  return (
    RETRIABLE_CODES.has(error.code) ||
    error.hasErrorLabel('RetryableWriteError') ||
    error.hasErrorLabel('TransientTransactionError')
  )
}

function isPoolError(error: MongoError): boolean {
  return /Pool|WaitQueue/.test(error.name)
}
