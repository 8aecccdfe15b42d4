import { backOff } from '../../runtime/process/repeat.ts'
import type { Outage, OutageLogger } from '../../runtime/process/outage.ts'
import { DependencyError } from '../../runtime/errors.ts'
import { dependencyError, isAway, isUnauthorized } from './driver-errors.ts'

const PAUSES = { firstMs: 200, longestMs: 2_000 }

export type Preparation<T> = {
  /** The result of `prepare`. @throws {DependencyError} that says why there is none, or none yet. */
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
      logger.warn({ err: outcome.error }, 'MongoDB cannot be used yet, trying again')
      await pauses.pause(stopping.signal)
      outcome = await tryOnce()
    }
    if (outcome.kind === 'done') return
    logger.error({ err: outcome.error }, 'MongoDB cannot be used')
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
      return { kind: 'failed', error: outage.mark(notReady(error)) }
    }
  }
}

type Outcome<T> =
  | { readonly kind: 'done'; readonly result: T }
  | { readonly kind: 'failed'; readonly error: DependencyError }
  | { readonly kind: 'refused'; readonly error: DependencyError }

/** Any cause (no server, a wrong password) can be fixed meanwhile. */
function notReady(cause: unknown): DependencyError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new DependencyError(`the store is not ready: ${reason}`, { retriable: true, cause })
}
