import { MongoClient, type Db, type MongoClientOptions } from 'mongodb'
import type { Logger } from 'pino'
import { Outage, type OutageLogger } from '../../runtime/process/outage.ts'
import { dependencyError, isAway, NoAnswerError, isUnauthorized } from './driver-errors.ts'
import { backOff } from '../../runtime/process/repeat.ts'
import { DependencyError } from '../../runtime/errors.ts'

const DEFAULT_DATABASE = 'gps'

/**
 * A client that connects on first use. Writes are acknowledged by a majority and journaled, and
 * reads see only majority-committed data: nothing read is ever rolled back, so the projector can
 * commit an offset based on it. `options` may ask for less.
 * @throws when the URL is not a MongoDB connection string.
 */
export function openClient(url: string, options: MongoClientOptions = {}): MongoClient {
  return new MongoClient(url, {
    appName: 'gps-position-ingestion',
    readPreference: 'primary',
    readConcern: { level: 'majority' },
    writeConcern: { w: 'majority', journal: true, wtimeoutMS: 5_000 },
    ignoreUndefined: true,
    promoteBuffers: true,
    maxPoolSize: 20,
    serverSelectionTimeoutMS: 3_000,
    connectTimeoutMS: 3_000,
    waitQueueTimeoutMS: 3_000,
    socketTimeoutMS: 10_000,
    ...options,
  })
}

/** The database that the URL names, by default `gps` (the driver's own default is `test`). */
export function databaseOf(client: MongoClient, url: string): Db {
  const names = /^mongodb(?:\+srv)?:\/\/[^/]+\/[^?]/.test(url)
  return names ? client.db() : client.db(DEFAULT_DATABASE)
}

/** The outage of the server, for all clients of a process. */
export function mongoOutage(logger: Logger): Outage {
  return new Outage({ dependency: 'MongoDB', variable: 'MONGODB_URL', logger })
}

type Methods<M> = { readonly [Name in keyof M]: (...args: never[]) => Promise<unknown> }

/**
 * Wraps the methods for callers: refused until the store is prepared, with the driver's errors
 * converted to the port's, and with a time limit, in case the server does not respond. `unbounded`
 * names the methods without a limit.
 */
export function guardMethods<M extends Methods<M>>(
  methods: M,
  {
    checkPrepared,
    withinMs,
    unbounded,
    outage,
  }: {
    checkPrepared: () => unknown
    withinMs: number
    unbounded: ReadonlySet<string>
    /** Learns whether the server answers. */
    outage: Outage
  },
): M {
  const entries = Object.entries(methods) as [string, (...args: unknown[]) => Promise<unknown>][]
  const wrapped = entries.map(([name, method]) => [
    name,
    async (...args: unknown[]) => {
      checkPrepared()
      try {
        const result = unbounded.has(name)
          ? await method(...args)
          : await awaitAnswer(method(...args), withinMs, name)
        outage.answered()
        return result
      } catch (thrown) {
        const error = dependencyError(thrown)
        if (isAway(thrown)) outage.failed(error)
        throw outage.mark(error)
      }
    },
  ])
  return Object.fromEntries(wrapped) as M
}

/**
 * Awaits the promise for a limited time.
 * @throws {DependencyError} retriable after that, naming the operation; it may still succeed.
 */
export async function awaitAnswer<T>(
  answer: Promise<T>,
  withinMs: number,
  operation: string,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new NoAnswerError(`MongoDB did not respond within ${withinMs} ms: ${operation}`))
    }, withinMs)
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Caches the last result for `forMs`; failures are not cached. */
export function cacheResult<T>(ask: () => Promise<T>, { forMs }: { forMs: number }) {
  let last: { readonly answer: Promise<T>; until: number } | undefined
  return async function answer(): Promise<T> {
    const now = performance.now()
    if (last === undefined || now >= last.until) {
      const current = { answer: ask(), until: now + forMs }
      last = current
      current.answer.catch(() => (current.until = 0))
    }
    return last.answer
  }
}

const PAUSES = { firstMs: 200, longestMs: 2_000 }

export type Preparation<T> = {
  /**
   * The result of `prepare`.
   * @throws {DependencyError} with the reason if there is no result (yet).
   */
  readonly current: () => T
  /** Stops pending attempts. */
  readonly stop: () => Promise<void>
}

/**
 * Tries `prepare` once before it resolves, then in the background until it succeeds: a process may
 * start before its database does.
 * @throws {DependencyError} not retriable, when the first try rules out success.
 */
export async function startPreparing<T>(
  prepare: (signal: AbortSignal) => Promise<T>,
  { logger, outage }: { logger: OutageLogger; outage: Outage },
): Promise<Preparation<T>> {
  const stopping = new AbortController()
  let outcome = await tryOnce()
  if (outcome.kind === 'refused') throw outcome.error
  const background = keepTrying()

  return {
    current() {
      if (outcome.kind === 'done') return outcome.result
      throw outcome.error
    },
    async stop() {
      stopping.abort()
      await background
    },
  }

  async function keepTrying(): Promise<void> {
    const pauses = backOff(PAUSES)
    while (outcome.kind === 'failed' && !stopping.signal.aborted) {
      logger.warn({ err: outcome.error }, 'could not prepare MongoDB; retrying')
      await pauses.pause(stopping.signal)
      outcome = await tryOnce()
    }
    if (outcome.kind === 'done') return
    logger.error({ err: outcome.error }, 'could not prepare MongoDB')
  }

  async function tryOnce(): Promise<Outcome<T>> {
    try {
      const result = await prepare(stopping.signal)
      outage.answered()
      return { kind: 'done', result }
    } catch (cause) {
      if (isAway(cause) && !stopping.signal.aborted) outage.failed(dependencyError(cause))
      // Our own error, not the driver's: this program cannot use the database.
      if (cause instanceof DependencyError && !cause.retriable) {
        return { kind: 'refused', error: cause }
      }
      const error = dependencyError(cause)
      if (isUnauthorized(cause) && error instanceof DependencyError) {
        return { kind: 'refused', error }
      }
      return { kind: 'failed', error: outage.mark(notReadyError(error)) }
    }
  }
}

type Outcome<T> =
  | { readonly kind: 'done'; readonly result: T }
  | { readonly kind: 'failed'; readonly error: DependencyError }
  | { readonly kind: 'refused'; readonly error: DependencyError }

/** Any cause (no server, a wrong password) may be fixed later. */
function notReadyError(cause: unknown): DependencyError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new DependencyError(`the store is not ready: ${reason}`, { retriable: true, cause })
}
