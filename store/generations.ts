import type {
  AppliedEvents,
  DeviceStatus,
  Offsets,
  Origin,
  PositionRecord,
} from '../schemas/devices/read-models.ts'
import type { ReadModels } from './read-models.ts'

/**
 * Read models exist in generations: one is current, and a rebuild creates the next one beside it.
 */
export interface Generations {
  /** The current generation; the first is 1. */
  currentGeneration(): Promise<number>

  /** @throws {DependencyError} retriable when it is neither current nor being built. */
  openGeneration(generation: number): Promise<Generation>

  /**
   * Starts a new generation, and removes leftovers of earlier rebuilds. Undefined while another
   * rebuild is running; a killed rebuild counts as running for up to 30 s.
   */
  beginRebuild(): Promise<Rebuild | undefined>
}

/** A generation, current or not, to project into and to compare with another. */
export interface Generation extends Pick<ReadModels, 'checkpoint' | 'project'> {
  /**
   * The last event of each partition that was applied, or is about to be: its id shows whether the
   * log is still the one that the generation was built from.
   */
  lastApplied(): Promise<AppliedEvents>

  /** The version of the fold that produced its statuses; undefined while nothing is projected. */
  foldVersion(): Promise<FoldVersion | undefined>

  /**
   * The origins of these records, by `accountId/recordId`; records that are not stored are left
   * out.
   */
  recordOrigins(records: readonly RecordName[]): Promise<ReadonlyMap<string, Origin>>

  /** The lowest and highest offsets of records received since then, by partition. */
  origins(query: { receivedSince: number }): Promise<ReadonlyMap<number, OriginBounds>>

  /** The accounts with any data in it. */
  accounts(): Promise<string[]>

  /** Device statuses by deviceId, in the order of its UTF-8 bytes. */
  pageStatuses(query: {
    readonly accountId: string
    readonly limit: number
    readonly after?: string
  }): Promise<DeviceStatus[]>

  /** Every record of the devices after `after`, up to and including `upTo`, in chunks. */
  scanRecords(query: {
    readonly accountId: string
    readonly after?: string
    readonly upTo?: string
  }): AsyncIterable<readonly PositionRecord[]>

  /**
   * The offset of the last erasure applied to each of these devices, by partition; visible before
   * any of the device's data is removed. Devices never erased are omitted.
   */
  erasedUpTo(query: {
    readonly accountId: string
    readonly deviceIds: readonly string[]
  }): Promise<ReadonlyMap<string, Offsets>>

  close(): Promise<void>
}

export type RecordName = { readonly accountId: string; readonly recordId: string }

/** `mixed`: several versions projected into it. */
export type FoldVersion = number | 'mixed'

export type OriginBounds = { readonly least: number; readonly greatest: number }

/** A running rebuild; no other can start until it has ended. */
export interface Rebuild {
  /** The current generation when it started. */
  readonly from: number
  /** The generation it builds; empty at first. */
  readonly to: number
  /** Aborted when another rebuild has taken over because this one was unresponsive for too long. */
  readonly lost: AbortSignal
  /**
   * Removes hidden devices whose erasure `from` has applied. After that, no device is removed
   * before the switch: devices erased in the meantime stay hidden until `to` has applied the
   * erasure too. Call this before deciding how far `to` must project.
   */
  settleErasures(): Promise<void>
  /**
   * Makes `to` current.
   * @throws {DependencyError} not retriable when another rebuild has taken over.
   */
  switchOver(): Promise<void>
  /** Permanently removes the generation that is not current, and lets others rebuild. */
  end(): Promise<void>
}
