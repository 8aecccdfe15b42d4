import { setMaxListeners } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { isMainThread } from 'node:worker_threads'
import { isProgramFault, reasonOf } from '../errors.ts'
import type { Logger } from './logger.ts'
import { repeatPeriodically } from './repeat.ts'

/** The fraction of the deadline that running tasks, and one last task, may take after the stop. */
const SHARE_OF_TASKS = 1 / 4
const SHARE_OF_LAST_TASK = 1 / 10
/** A process has a dozen tasks that end with it. Node warns of a leak beyond this number. */
export const MOST_LISTENERS = 30

/**
 * Closes what a process has opened, in reverse order. `main.ts` registers a closer with `onClose`
 * for everything it opens; SIGTERM and SIGINT then stop the process.
 */
export class Lifecycle {
  readonly #closers: { readonly what: string; readonly close: () => Promise<void> }[] = []
  readonly #logger: Logger
  readonly #deadlineMs: number
  readonly #stopping = new AbortController()
  #closing: Promise<void> | undefined
  #hasFailed = false
  #tasksAreDue: Promise<unknown> | undefined

  constructor({ logger, deadlineMs }: { logger: Logger; deadlineMs: number }) {
    this.#logger = logger
    this.#deadlineMs = deadlineMs
    setMaxListeners(MOST_LISTENERS, this.#stopping.signal)
  }

  /** Aborted when the process starts to stop: readiness turns 503, loops end. */
  get stopping(): AbortSignal {
    return this.#stopping.signal
  }

  onClose(name: string, close: () => Promise<void>): void {
    this.#closers.push({ what: name, close })
  }

  /** Stops on signals. A second signal is ignored: shells and npm often send it twice. */
  stopOnSignals(): void {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (this.#closing === undefined) this.#logger.info({ signal }, 'stopping')
        this.#exit(0)
      })
    }
  }

  /** Stops this process, or this worker thread, like a signal. */
  stop(): void {
    this.#exit(0)
  }

  /**
   * Exits with code 1 after an unrecoverable failure, so that the supervisor restarts the process.
   * Logs one message and no consequences of the failure.
   */
  fail(error: unknown, event: string): void {
    this.#logger.fatal(isProgramFault(error) ? { err: error } : { reason: reasonOf(error) }, event)
    this.failQuietly()
  }

  /** Fails the process for an error that has been logged elsewhere. */
  failQuietly(): void {
    this.#hasFailed = true
    this.#exit(1)
  }

  /**
   * A task that runs until `stopping` is aborted; if it fails, the process fails. The stop waits
   * for it only for a fraction of the deadline, because a database may not respond.
   */
  run(name: string, task: Promise<void>): void {
    this.onClose(name, async () => {
      const ended = task.then(
        () => true,
        () => true,
      )
      const late = this.#tasksAreDue?.then(() => false)
      if ((await Promise.race([ended, late])) === false) this.#leaveUndone(name)
    })
    task.catch((error: unknown) => this.fail(error, `${name} failed`))
  }

  /** A task repeated from now until the process stops. */
  every(name: string, everyMs: number, task: () => Promise<void>): void {
    const signal = this.stopping
    this.run(name, repeatPeriodically({ what: name, everyMs, task, signal, logger: this.#logger }))
  }

  /** A last task when the process stops. If it fails or takes too long, it is abandoned. */
  lastly(name: string, task: () => Promise<void>): void {
    this.onClose(name, async () => {
      const late = wait(this.#deadlineMs * SHARE_OF_LAST_TASK, false, { ref: false })
      const done = task().then(
        () => true,
        () => false,
      )
      if (!(await Promise.race([done, late]))) this.#leaveUndone(name)
    })
  }

  /** Closes everything once, in reverse order. */
  async close(): Promise<void> {
    this.#closing ??= this.#closeAll()
    return this.#closing
  }

  #leaveUndone(name: string): void {
    const level = this.#hasFailed ? 'debug' : 'warn'
    this.#logger[level]({ what: name }, 'shutdown task did not finish')
  }

  #exit(code: number): void {
    const deadline = setTimeout(() => {
      this.#logger.error({ deadlineMs: this.#deadlineMs }, 'shutdown missed its deadline')
      process.exit(1)
    }, this.#deadlineMs)
    deadline.unref()
    const exit = async (ended: number) => {
      await flushOutput(process.stdout)
      process.exit(ended)
    }
    this.close().then(
      () => exit(code),
      () => exit(1),
    )
  }

  async #closeAll(): Promise<void> {
    this.#stopping.abort()
    this.#tasksAreDue = wait(this.#deadlineMs * SHARE_OF_TASKS, undefined, { ref: false })
    let failed = false
    for (const { what, close } of this.#closers.reverse()) {
      try {
        await close()
      } catch (error) {
        failed = true
        const level = this.#hasFailed ? 'debug' : 'error'
        this.#logger[level]({ err: error, what }, 'closing failed')
      }
    }
    // The main thread of a process stops after the worker.
    this.#logger[this.#hasFailed || !isMainThread ? 'debug' : 'info']('stopped')
    if (failed) throw new Error('not everything could be closed')
  }
}

/** Resolves once all earlier output is written: a worker's output goes through the main thread. */
function flushOutput(output: NodeJS.WritableStream): Promise<void> {
  return new Promise((resolve) => output.write('', () => resolve()))
}
