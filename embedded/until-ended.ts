import type { Worker } from 'node:worker_threads'
import type { Lifecycle } from '../runtime/lifecycle.ts'

/**
 * Resolves when the thread has ended with code 0. Without the worker nothing is projected and nobody can
 * sign in, so its end stops the process, with code 1 unless the process was already stopping.
 */
export function untilEnded(
  thread: Worker,
  {
    worker,
    lifecycle,
  }: { worker: { lost(): void }; lifecycle: Pick<Lifecycle, 'stopping' | 'fail'> },
): Promise<void> {
  let cause: unknown
  thread.on('error', (error) => (cause = error))
  const ended = new Promise<void>((resolve, reject) => {
    thread.once('exit', (code) => {
      worker.lost()
      const error = new Error(`the worker thread has ended with code ${code}`, { cause })
      if (!lifecycle.stopping.aborted) lifecycle.fail(error, 'the worker thread has ended')
      if (code === 0) resolve()
      else reject(error)
    })
  })
  ended.catch(() => undefined)
  return ended
}
