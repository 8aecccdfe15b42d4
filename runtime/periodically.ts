import { setTimeout as wait } from 'node:timers/promises'

/**
 * Runs a task now, and again `everyMs` after each end, until `signal` is aborted. Failures are
 * logged and do not stop it.
 */
export async function periodically({
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
  while (!signal.aborted) {
    try {
      await task()
    } catch (error) {
      logger.warn({ err: error, what }, 'periodic task failed, it will be tried again')
    }
    await wait(everyMs, undefined, { signal, ref: false }).catch(() => undefined)
  }
}
