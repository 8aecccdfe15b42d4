import type { Worker } from 'node:worker_threads'
import type { OwnIngest } from '../admin-api/ingest-addresses.ts'
import type { startAdminApi } from '../admin-api/service.ts'
import type { EventLog } from '../event-log/event-log.ts'
import type { TopicName } from '../event-log/topic.ts'
import type { Instances } from '../store/back-office.ts'
import type { Keys } from '../store/keys.ts'
import type { Devices } from '../store/read-models.ts'
import type { MetricsJson } from '../runtime/http/metrics-page.ts'
import type { Lifecycle } from '../runtime/process/lifecycle.ts'

/** The functions that the main thread, the only writer of the log, offers the worker. */
export type MainThread = Pick<EventLog, 'erase' | 'trim'> & {
  appendDeadLetters: EventLog['deadLetters']['append']
  commitTopic(topic: TopicName, group: string, offset: number): Promise<void>
  metrics(): Promise<MetricsJson>
  /** The worker is ending, on request or after a failure. */
  ending(): Promise<void>
}

/** The functions that the worker, the only writer of back office and read models, offers the main thread. */
export type WorkerThread = Pick<Keys, 'touchKeys' | 'countRefusals'> &
  Pick<Devices, 'findDevice'> &
  Pick<Instances, 'saveInstance'> & {
    /** Resolves once every file is open and up to date. */
    opened(): Promise<void>
    startAdminApi(ownIngest: OwnIngest): ReturnType<typeof startAdminApi>
    /** The log has new events. */
    appended(): Promise<void>
    /** A topic of the log has new entries. */
    appendedTo(topic: TopicName): Promise<void>
    metrics(): Promise<MetricsJson>
    /**
     * Finishes work in progress and accepts no new work, but still answers the main thread's calls.
     */
    stop(): Promise<void>
    /** The main thread makes no more calls: the worker may end. */
    finish(): Promise<void>
  }

/**
 * Resolves when the thread has ended with code 0. Without the worker nothing is projected and nobody can
 * sign in, so its end stops the process, with code 1 unless the process was already stopping. The process
 * fails with the error that ended the thread.
 */
export function awaitEnd(
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
