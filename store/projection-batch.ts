import { DependencyError } from '../runtime/errors.ts'
import type {
  ErasureEntry,
  PositionEntry,
  ProjectionEntry,
  RepeatEntry,
  ReportEntry,
  SeenEntry,
} from '../schemas/events/log-entry.ts'
import type { DeviceStatus } from '../schemas/devices/read-models.ts'

/** Entries of one partition to project, in the order of the log. */
export type ProjectionBatch = {
  readonly partition: number
  /** The partition's checkpoint before the batch; by default it is not checked. */
  readonly after?: number
  /** The last offset of the batch as read, even if no entry has it. */
  readonly lastOffset: number
  readonly entries: readonly ProjectionEntry[]
  /** Pure; returns `previous` itself for an entry that is already applied. */
  readonly fold: Fold
  /**
   * Stored with the batch, so that a generation records the version of the fold that produced it.
   */
  readonly foldVersion: number
}

/**
 * The read models lack entries before a batch, because they were replaced by restored older ones.
 * Nothing of the batch was written. Reading can resume at their checkpoint.
 */
export class WentBackError extends DependencyError {
  constructor(partition: number, { from, to }: { from: number; to: number }) {
    super(
      `the read models went back from offset ${from} to ${to} of partition ${partition}: ` +
        'older ones were restored',
      { retriable: false },
    )
  }
}

/** A position creates a status; a heartbeat or a repeat alone does not. */
export type Fold = (
  previous: DeviceStatus | undefined,
  entry: ReportEntry | RepeatEntry,
) => DeviceStatus | undefined

/**
 * The effect of a batch on one device. A redelivered batch changes nothing and reports only
 * repeats.
 */
export type Change = {
  readonly accountId: string
  readonly deviceId: string
  /** The device's status before and after the batch; undefined if it has no status. */
  readonly before: DeviceStatus | undefined
  readonly after: DeviceStatus | undefined
  /**
   * Positions stored and counted by this call, in the order of the log; without positions erased by
   * the batch itself. Counting decides: a projector that died before counting may already have
   * stored the record.
   */
  readonly stored: readonly PositionEntry[]
  /**
   * Heartbeats folded by this call, without heartbeats erased by the batch itself, and without
   * ineffective ones.
   */
  readonly seen: readonly SeenEntry[]
  /**
   * Repeats of stored records, which are folded as signs of life, and of applied erasures, which
   * have no effect.
   */
  readonly repeated: readonly ProjectionEntry[]
  readonly erased: readonly ErasureEntry[]
}
