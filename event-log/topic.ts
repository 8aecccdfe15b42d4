import type { UnreadableEntry } from '../schemas/events/log-entry.ts'
import type { Origin } from '../schemas/devices/read-models.ts'
import { utf8 } from '../schemas/events/event-fields.ts'
import {
  decodeReportRejected,
  encodeReportRejected,
  REJECTIONS_KEPT_MS,
  REPORT_REJECTED,
  type ReportRejected,
} from '../schemas/events/report-rejected.ts'
import type { waitingRoom } from './gathering-writer.ts'

/**
 * A log of entries of one kind, beside the event log. It has its own queue, offsets and retention,
 * so it neither delays nor displaces events.
 */
export interface Topic<Entry> {
  /**
   * Resolves once every entry is durable. An entry that is appended again may be stored once or
   * twice.
   * @throws {DependencyError} as `EventLog.append` does.
   * @throws {UndecodableEventError} for an entry that could not be read back.
   */
  append(entries: readonly Entry[]): Promise<void>

  /**
   * Delivers every entry at least once to one member of the group, and moves on only after
   * `onBatch` has resolved. Unreadable entries are skipped. Resolves when `signal` is aborted and
   * the current batch is done.
   */
  subscribe(subscription: TopicSubscription<Entry>): Promise<void>

  /**
   * Yields the topic's current entries, oldest first in each partition, in batches of at most 500.
   */
  read(): AsyncIterable<TopicBatch<Entry>>

  /**
   * Removes batches in reading order, except the entries to keep, which are appended again. After a
   * crash, some may be in the topic twice.
   */
  remove(batch: TopicBatch<Entry>, options: { readonly keep: readonly Entry[] }): Promise<void>

  /** The number of entries held. */
  count(): Promise<number>
}

export type TopicName = 'report-rejected' | 'dead-letter'

export type TopicSubscription<Entry> = {
  readonly group: string
  readonly onBatch: (entries: readonly Entry[]) => Promise<void>
  readonly signal: AbortSignal
}

/** Consecutive entries of one partition; `upTo` is the offset of the last one. */
export type TopicBatch<Entry> = { readonly entries: readonly Entry[]; readonly upTo: Origin }

/** How a topic stores entries of one kind, in any storage. */
export type TopicKind<Entry> = {
  readonly name: TopicName
  /** How long an entry is retained, in milliseconds; `Infinity`: until it is removed. */
  readonly keptMs: number
  /** Limits the queue where a flood must not fill the memory. */
  readonly waiting?: Parameters<typeof waitingRoom>[0]
  /** @throws {UndecodableEventError} if it could not be read back. */
  toRecord(entry: Entry): TopicRecord
  /** @throws {UndecodableEventError} */
  fromRecord(record: StoredRecord): Entry
}

export type TopicRecord = {
  /** Repeats of an entry have the same id. */
  readonly id: string
  readonly key: string | Uint8Array | null
  readonly value: string | Uint8Array | null
  /** An event has a type and a time; everything else gets the current time. */
  readonly event?: { readonly type: string; readonly time: number }
  readonly headers?: Headers
}

export type StoredRecord = {
  readonly key: Uint8Array | null
  readonly value: Uint8Array | null
  readonly headers: Headers
}

type Headers = Readonly<Record<string, unknown>>

export const REJECTIONS: TopicKind<ReportRejected> = {
  name: 'report-rejected',
  keptMs: REJECTIONS_KEPT_MS,
  waiting: { maxItems: 1000, maxBytes: 4 * 1024 * 1024 },

  toRecord(event) {
    const { rejectionId: id, accountId, keyId, receivedAt: time } = event
    const value = encodeReportRejected(event)
    return { id, key: `${accountId}/${keyId}`, value, event: { type: REPORT_REJECTED, time } }
  },

  fromRecord: ({ value }) => decodeReportRejected(utf8(value, 'value')),
}

/** The headers that record a dead letter's origin, added to its own headers. */
const ORIGIN = ['error', 'topic', 'partition', 'offset'] as const

/**
 * The dead letters of the events in `topic`: key, value and headers unchanged, plus their origin.
 */
export function deadLettersOf(topic: string): TopicKind<UnreadableEntry> {
  return {
    name: 'dead-letter',
    keptMs: Infinity,

    toRecord({ key, value, headers, reason: error, origin: { partition, offset } }) {
      const place = { partition: String(partition), offset: String(offset) }
      const id = `${topic}/${partition}/${offset}`
      return { id, key, value, headers: { ...headers, error, topic, ...place } }
    },

    fromRecord({ key, value, headers }) {
      const text = (name: (typeof ORIGIN)[number]) =>
        (headers[name] as string | Buffer | undefined)?.toString() ?? ''
      const own = Object.entries(headers).filter(([name]) => !ORIGIN.some((one) => one === name))
      return {
        kind: 'unreadable',
        origin: { partition: Number(text('partition')), offset: Number(text('offset')) },
        reason: text('error'),
        key,
        value,
        headers: Object.fromEntries(own),
      }
    },
  }
}
