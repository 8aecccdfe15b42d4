import type { startAdminApi } from '../admin-api/service.ts'
import type { EventLog } from '../event-log/event-log.ts'
import type { Instances, Keys } from '../store/back-office.ts'
import type { MetricsJson } from '../runtime/thread-metrics.ts'

/** What the main thread, which alone writes the log, does for the worker. */
export type MainThread = Pick<EventLog, 'erase' | 'deadLetter' | 'trim'> & {
  commit(group: string, offset: number): Promise<void>
  commitRejections(group: string, offset: number): Promise<void>
  metrics(): Promise<MetricsJson>
  /** The worker ends: it was asked to, or something failed that it cannot go on without. */
  ending(): Promise<void>
}

/** What the worker, which alone writes the back office and the read models, does for the main thread. */
export type WorkerThread = Pick<Keys, 'touchKeys'> &
  Pick<Instances, 'saveInstance'> & {
    /** Resolves once every file is open and up to date. */
    opened(): Promise<void>
    startAdminApi(): ReturnType<typeof startAdminApi>
    /** There is something new in the log: events, rejections. */
    appended(): Promise<void>
    appendedRejections(): Promise<void>
    metrics(): Promise<MetricsJson>
    /** Takes nothing new, finishes what is under way, and still does what the main thread asks. */
    stop(): Promise<void>
    /** The main thread asks for nothing more: the worker may end. */
    finish(): Promise<void>
  }
