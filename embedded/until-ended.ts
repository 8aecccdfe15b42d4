import type { Worker } from 'node:worker_threads'
import type { Lifecycle } from '../runtime/process/lifecycle.ts'

/**
 * Resolves when the thread has ended with code 0. Without the worker nothing is projected and nobody can
 * sign in, so its end stops the process, with code 1 unless the process was already stopping. The process
 * fails with the error that ended the thread.
 */
export function untilEnded(
  thread: Worker,
  {
    worker,
    lifecycle,
    event = () => 'the worker thread has ended',
  }: {
    worker: { lost(): void }
    lifecycle: Pick<Lifecycle, 'stopping' | 'fail'>
    /** The event to log if the process fails. */
    event?: () => string
  },
): Promise<void> {
  let cause: unknown
  thread.on('error', (error) => (cause = error))
  const ended = new Promise<void>((resolve, reject) => {
    thread.once('exit', (code) => {
      worker.lost()
      const error = new Error(`the worker thread has ended with code ${code}`, { cause })
      if (!lifecycle.stopping.aborted) lifecycle.fail(cause ?? error, event())
      if (code === 0) resolve()
      else reject(error)
    })
  })
  ended.catch(() => undefined)
  return ended
}
