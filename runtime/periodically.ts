import { setTimeout as wait } from 'node:timers/promises'

/**
 * Does a task now and then again and again, `everyMs` after it last ended, until `signal` is
 * aborted. A failure is logged and the next turn tries again.
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
