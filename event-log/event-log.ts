import type { AppendedEvent } from '../schemas/events/appended-event.ts'
import type { DeviceErased } from '../schemas/events/device-erased.ts'
import type {
  FactEntry,
  PositionEntry,
  ProjectionEntry,
  SeenEntry,
  UnreadableEntry,
} from '../schemas/events/log-entry.ts'
import type { Offsets, Origin } from '../schemas/devices/read-models.ts'
import type { ReportRejected } from '../schemas/events/report-rejected.ts'
import type { Topic } from './topic.ts'

export type { PositionEntry, SeenEntry, UnreadableEntry }

/** A log that readers follow: the event log or the fact log. */
export interface ReadableLog<Entry = FollowedEntry> {
  /**
   * Every entry after `after`, then new ones, for live readers: no group, no commits. Ends when
   * `signal` is aborted. Entries deleted by retention are reported first, as one `gap`.
   */
  tail(options: { after: Offsets | 'end'; signal: AbortSignal }): AsyncIterable<TailItem<Entry>>

  /** The current extent of each partition. */
  extent(): Promise<readonly Extent[]>

  /**
   * The last offset of each partition before its first entry received or decided at this time
   * (milliseconds) or later. A few older entries may follow it, because entries are not appended in
   * order of time.
   */
  placeBefore(time: number): Promise<Offsets>
}

/**
 * The log of accepted reports, heartbeats and erasures, from which every read model can be rebuilt.
 * Events with the same `deviceKey` share a partition and keep their order.
 */
export interface EventLog extends ReadableLog<LogEntry> {
  /** Rejected reports, to diagnose why a device's reports do not arrive; retained for 7 days. */
  readonly rejections: Topic<ReportRejected>

  /** Entries that could not be read, stored byte for byte for operators. */
  readonly deadLetters: Topic<UnreadableEntry>

  /** A dead letter as read by this version. */
  readAgain(kept: UnreadableEntry): Promise<LogEntry>

  /**
   * Appends dead letters that can be read now to the log again, key and value byte for byte.
   * @throws {DependencyError} as `append` does.
   */
  replay(letters: readonly DeadLetter[]): Promise<void>

  /**
   * Resolves once every event is durable, in the order given.
   * @throws {DependencyError} `retriable` when the same append may succeed later (log
   *   unavailable, busy, overloaded, closing); the events may or may not have been written.
   */
  append(events: readonly AppendedEvent[], options?: AppendOptions): Promise<void>

  /**
   * Appends the erasure of a device under the device's key, after all its earlier events. Resolves
   * once it is durable.
   * @throws {DependencyError} as `append` does; it may or may not have been written.
   */
  erase(event: DeviceErased): Promise<void>

  /**
   * Delivers every event at least once to one member of the group, in order per partition. Moves on
   * (and commits) only after `onBatch` has resolved; a batch that rejects is redelivered after a
   * pause. Resolves when `signal` is aborted and the current batch is done.
   */
  subscribe(subscription: Subscription): Promise<void>

  /**
   * How far a group is behind the end of the log. `seconds`: age of the oldest unprocessed event.
   * `applied`: the checkpoint of its read models, if they keep it themselves; takes precedence over
   * the offsets committed in the log.
   */
  lag(
    group: string,
    applied?: Offsets,
  ): Promise<{ readonly events: number; readonly seconds: number }>

  /**
   * The ids of the events at these offsets, by partition. Offsets that the log does not hold, or
   * that hold no event this version can read, are omitted.
   */
  eventIdsAt(offsets: Offsets): Promise<ReadonlyMap<number, string>>

  /**
   * For retention: deletes entries received before `receivedBefore` (milliseconds), and dead
   * letters equally old. Stops early when `signal` is aborted; the next call continues.
   */
  trim(receivedBefore: number, signal?: AbortSignal): Promise<void>

  /**
   * Resolves when an append would now be durable, unless the process has met an entry that it lacks
   * a variable to read (`UnreadableEntry.missing`). On a file this writes; `writtenWithinMs`: unless
   * the last write succeeded, at most that long ago.
   * @throws {DependencyError} that names the missing part.
   */
  ready(options?: { readonly writtenWithinMs?: number }): Promise<void>

  /** Writes queued entries, then releases all resources. */
  close(): Promise<void>
}

/** An entry that could not be read when it arrived, and the result of reading it now. */
export type DeadLetter = {
  readonly kept: UnreadableEntry
  readonly now: LogEntry
}

export type AppendOptions = {
  /** Whether the events may have waited in a spool: an erasure may then precede them in the log. */
  readonly spooled?: boolean
}

export type Subscription = {
  readonly group: string
  /**
   * The checkpoint of the group's read models, if they keep it themselves: it overrides the offsets
   * committed in the log. Read at the start, and whenever partitions are assigned to this member;
   * retried on failure. Without it, a log that stores no offsets is read from its start.
   */
  readonly resumeAfter?: () => Promise<Offsets>
  readonly onBatch: (batch: LogBatch) => Promise<void>
  readonly signal: AbortSignal
}

/** A partition's entries: from `first` (inclusive) to `next`, the next offset to be written. */
export type Extent = {
  readonly partition: number
  readonly first: number
  readonly next: number
  /** Whether retention has deleted nothing yet. */
  readonly whole: boolean
}

/**
 * Consecutive entries of one partition, at most 500; empty if no entry up to `lastOffset` is
 * readable.
 */
export type LogBatch<Entry = LogEntry> = {
  readonly partition: number
  /**
   * The offset before the first entry: the group has processed everything up to it. Absent for a
   * group without a checkpoint.
   */
  readonly after?: number
  readonly lastOffset: number
  readonly entries: readonly Entry[]
}

export type LogEntry = ProjectionEntry | UnreadableEntry | UnknownEntry

/** An entry of either log. */
export type FollowedEntry = LogEntry | FactEntry

/** An event of a type this version does not know; readers skip it. */
export type UnknownEntry = {
  readonly kind: 'unknown'
  readonly origin: Origin
  readonly type: string
}

export type TailItem<Entry = LogEntry> = ({ readonly kind: 'batch' } & LogBatch<Entry>) | TailGap

/**
 * Entries have been deleted, or the partition was recreated. The next entries come after the offset
 * `after`, which lies before entries already read if the partition was recreated.
 */
export type TailGap = { readonly kind: 'gap'; readonly partition: number; readonly after: number }
