import { setTimeout as startTimer } from 'node:timers'
import { setTimeout as wait } from 'node:timers/promises'
import { DependencyError } from '../errors.ts'

/** Growing pauses between retries. */
export type BackOff = {
  /** Waits; returns immediately when `signal` is aborted. */
  pause(signal?: AbortSignal): Promise<void>
  /** After a success: starts over with the first pause. */
  reset(): void
}

/** Doubles each pause, with jitter so that several clients do not retry in step. */
export function backOff({ firstMs, longestMs }: { firstMs: number; longestMs: number }): BackOff {
  let nextMs = firstMs
  return {
    async pause(signal) {
      const ms = nextMs * (0.5 + Math.random() / 2)
      nextMs = Math.min(2 * nextMs, longestMs)
      await wait(ms, undefined, { signal }).catch(() => undefined)
    },
    reset() {
      nextMs = firstMs
    },
  }
}

type Retrying = {
  readonly logger: { warn(fields: object, message: string): void }
  readonly signal: AbortSignal
  /** The log's message for a failure. */
  readonly failure: string
}

/**
 * Repeats `work` until it succeeds or `signal` is aborted; never rejects. When a call times out,
 * the server continues a long operation, and the next call waits for the same one.
 */
export async function repeatUntilSuccess(
  work: () => Promise<void>,
  { logger, signal, failure }: Retrying,
): Promise<void> {
  const pauses = backOff({ firstMs: 200, longestMs: 2_000 })
  while (!signal.aborted) {
    try {
      return await work()
    } catch (error) {
      if (signal.aborted) return
      logger.warn({ err: error }, failure)
      await pauses.pause(signal)
    }
  }
}

/**
 * Repeats `work` until it succeeds, as long as its failures are temporary.
 * @throws the first permanent failure, or the last failure when `signal` is aborted.
 */
export async function repeatUntilAvailable<T>(
  work: () => Promise<T>,
  { logger, signal, failure }: Retrying,
): Promise<T> {
  const pauses = backOff({ firstMs: 200, longestMs: 2_000 })
  for (;;) {
    try {
      return await work()
    } catch (error) {
      const mayPass = error instanceof DependencyError && error.retriable
      if (!mayPass || signal.aborted) throw error
      logger.warn({ err: error }, failure)
    }
    await pauses.pause(signal)
  }
}

/**
 * Runs a task now, and again `everyMs` after each end, until `signal` is aborted. Failures are
 * logged and do not stop it.
 */
export async function repeatPeriodically({
  what,
  everyMs,
  task,
  signal,
  logger,
}: {
  what: string
  everyMs: number
  task: () => Promise<void>
  signal: AbortSignal
  logger: { warn(fields: object, message: string): void }
}): Promise<void> {
  // One listener for all pauses: adding and removing one each time takes as long as most tasks.
  let wake = () => {}
  signal.addEventListener('abort', () => wake())
  while (!signal.aborted) {
    try {
      await task()
    } catch (error) {
      logger.warn({ err: error, what }, 'periodic task failed; retrying at its next run')
    }
    if (signal.aborted) return
    await new Promise<void>((resolve) => {
      wake = resolve
      startTimer(resolve, everyMs).unref()
    })
  }
}

/** Log readers waiting for new entries, or for the end of a failure. */
export type Sleepers = {
  /** Resolves after `ms`, or immediately when `signal` is aborted or all are woken. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
  wakeAll(): void
}

export function sleepers(): Sleepers {
  const asleep = new Set<() => void>()
  return {
    sleep(ms, signal) {
      if (signal.aborted) return Promise.resolve()
      return new Promise((resolve) => {
        const wake = () => {
          clearTimeout(timer)
          signal.removeEventListener('abort', wake)
          asleep.delete(wake)
          resolve()
        }
        const timer = setTimeout(wake, ms)
        signal.addEventListener('abort', wake)
        asleep.add(wake)
      })
    },

    wakeAll() {
      for (const wake of [...asleep]) wake()
    },
  }
}
