import type { DeviceErased } from '../schemas/device-erased.ts'
import type { PositionReported } from '../schemas/position-reported.ts'
import type { Offsets, Origin } from '../schemas/read-models.ts'
import type { ReportRejected } from '../schemas/report-rejected.ts'

/**
 * The log of accepted reports and of devices erased: the truth that every read model can be rebuilt
 * from. Events with the same `deviceKey` stand in one partition and keep their order.
 */
export interface EventLog extends RejectionLog {
  /**
   * Resolves once every event is durable, in the order given.
   * @throws {DependencyError} `retriable` when the same append may succeed later (log away, busy,
   * overloaded, closing); nothing is known then about whether the events were written.
   */
  append(events: readonly PositionReported[]): Promise<void>

  /**
   * Appends the erasure of a device under the device's key, behind everything of it that was
   * appended before. Resolves once it is durable.
   * @throws {DependencyError} as `append` does; nothing is known then about whether it was written.
   */
  erase(event: DeviceErased): Promise<void>

  /**
   * Delivers every event at least once to one member of the group, in order per partition, and
   * moves on (and commits) only after `onBatch` has resolved; a batch that rejects is delivered
   * again after a pause. Resolves when `signal` is aborted and the batch in hand is done.
   */
  subscribe(subscription: Subscription): Promise<void>

  /**
   * Every event after `after`, then those to come, for live readers: no group, nothing committed.
   * Ends when `signal` is aborted. Events that retention has taken come first as one `gap`.
   */
  tail(options: { after: Offsets | 'end'; signal: AbortSignal }): AsyncIterable<TailItem>

  /** Keeps what could not be read, bytes untouched, where operators find it. Resolves once durable. */
  deadLetter(entries: readonly UnreadableEntry[]): Promise<void>

  /**
   * How far a group is behind the end of the log. `seconds`: age of the oldest event not dealt with.
   * `applied` is where its read models say they stand, when they keep that themselves: it wins over
   * what the log has committed.
   */
  lag(
    group: string,
    applied?: Offsets,
  ): Promise<{ readonly events: number; readonly seconds: number }>

  /** The last offset a group has committed in each partition. */
  committed(group: string): Promise<Offsets>

  /** What the log holds now, partition by partition. */
  extent(): Promise<readonly Extent[]>

  /**
   * The ids of the events at these offsets, by partition. Left out is what the log does not hold,
   * and what is no event that this version reads.
   */
  eventIdsAt(offsets: Offsets): Promise<ReadonlyMap<number, string>>

  /** How many dead letters are kept. */
  deadLetters(): Promise<number>

  /**
   * Removes what was received before `receivedBefore` (milliseconds): retention, nothing else. Leaves
   * the rest for the next time once `signal` is aborted.
   */
  trim(receivedBefore: number, signal?: AbortSignal): Promise<void>

  /**
   * Resolves when an append would now be durable.
   * @throws {DependencyError} saying what is missing.
   */
  ready(): Promise<void>

  /** Finishes what is queued, then lets go of everything. */
  close(): Promise<void>
}

/**
 * A log of its own for reports that were refused: to find out why a device's reports do not arrive.
 * It is kept for 7 days and takes no room, time or order from the positions.
 */
export interface RejectionLog {
  /**
   * Resolves once every event is durable.
   * @throws {DependencyError} as `append` does.
   */
  appendRejections(events: readonly ReportRejected[]): Promise<void>

  /**
   * Delivers every event at least once to one member of the group and moves on only after `onBatch`
   * has resolved; one that cannot be read is left out. Resolves when `signal` is aborted.
   */
  subscribeRejections(subscription: {
    readonly group: string
    readonly onBatch: (events: readonly ReportRejected[]) => Promise<void>
    readonly signal: AbortSignal
  }): Promise<void>
}

export type Subscription = {
  readonly group: string
  /**
   * Where the group's read models say they stand, when they keep that themselves: it wins over
   * what the log has committed for the group, and such a log need not commit anything for it.
   */
  readonly resumeAfter?: Offsets
  readonly onBatch: (batch: LogBatch) => Promise<void>
  readonly signal: AbortSignal
}

/** A partition's entries: from `first` on, up to but without `next`, the offset of the one to come. */
export type Extent = {
  readonly partition: number
  readonly first: number
  readonly next: number
  /** Whether everything that was ever appended is still there: retention has taken nothing. */
  readonly whole: boolean
}

/** Consecutive entries of one partition, at least one, at most 500. */
export type LogBatch = {
  readonly partition: number
  readonly lastOffset: number
  readonly entries: readonly LogEntry[]
}

export type LogEntry =
  | { readonly kind: 'position'; readonly origin: Origin; readonly event: PositionReported }
  | { readonly kind: 'erasure'; readonly origin: Origin; readonly event: DeviceErased }
  | UnreadableEntry
  | UnknownEntry

/** An event of a type that this version does not know yet: readers skip it. */
export type UnknownEntry = {
  readonly kind: 'unknown'
  readonly origin: Origin
  readonly type: string
}

/** An entry that is no event, or not what its type says. */
export type UnreadableEntry = {
  readonly kind: 'unreadable'
  readonly origin: Origin
  readonly reason: string
  readonly key: Uint8Array | null
  readonly value: Uint8Array | null
  /** What else the log holds of it, where it holds that apart. */
  readonly headers?: Readonly<Record<string, unknown>>
}

export type TailItem =
  ({ readonly kind: 'batch' } & LogBatch) | { readonly kind: 'gap'; readonly partition: number }
