import { describe } from '@jest/globals'
import type { EventLog } from '../../event-log/event-log.ts'
import { appendingContract } from './event-log-appending.ts'
import { figuresContract } from './event-log-figures.ts'
import { otherEventsContract } from './event-log-other-events.ts'
import { subscribingContract } from './event-log-subscribing.ts'
import { eventLogSuite, type EventLogSuite } from './event-log-suite.ts'
import { tailingContract } from './event-log-tailing.ts'
import { topicGroupsContract } from './event-log-topic-groups.ts'
import { topicsContract } from './event-log-topics.ts'

export type OpenedEventLog = {
  /** A log that is empty. */
  readonly log: EventLog
  /** Whether the log stores the offsets of groups; otherwise groups do. */
  readonly keepsOffsets: boolean
  /** Whether all its events may have waited in a spool. */
  readonly marksAll?: true
  /** Another instance on the same data; earlier ones may be closed by then or still open. */
  reopen(): Promise<EventLog>
  /**
   * Puts a value where `key` belongs, behind the adapter's back; marked as a position report unless
   * a type and an id are given.
   */
  putRaw(
    value: Uint8Array | null,
    key: string,
    marks?: { readonly type: string; readonly id: string },
  ): Promise<void>
  /** Writes a value to the rejections, behind the adapter's back. */
  putRawRejection(value: Uint8Array): Promise<void>
  /** Closes every returned instance, even if already closed, and removes the data. */
  close(): Promise<void>
}

/** Opens a log that uses the clock and the logger given. */
export type OpenEventLog = (options: {
  readonly clock: { now(): number }
  readonly logger: Record<
    'debug' | 'info' | 'warn' | 'error',
    (fields: object, message: string) => void
  >
}) => Promise<OpenedEventLog>

/** The contract of every adapter of the EventLog port. */
export function eventLogContract(name: string, open: OpenEventLog): void {
  describe(`${name} keeps the event log's promises`, () => {
    const suite = eventLogSuite(open)
    eventsContract(suite)
    topicsContract(suite)
    topicGroupsContract(suite)
    figuresContract(suite)
  })
}

/** The part of the contract that depends on the event format: not topics and figures. */
export function eventFormatContract(name: string, open: OpenEventLog): void {
  describe(`${name} keeps the event log's promises`, () => eventsContract(eventLogSuite(open)))
}

function eventsContract(suite: EventLogSuite): void {
  appendingContract(suite)
  subscribingContract(suite)
  tailingContract(suite)
  otherEventsContract(suite)
}
