import type { DeviceErased } from '../schemas/events/device-erased.ts'
import type { DeviceSort, SortValue, SearchKey } from '../schemas/devices/device-search.ts'
import type { LabelChange } from '../schemas/devices/labels.ts'
import type { Liveness } from '../schemas/devices/liveness.ts'
import type {
  Device,
  DeviceSettings,
  HistoryPlace,
  Offsets,
  PositionRecord,
  TrackRow,
  TrackStep,
} from '../schemas/devices/read-models.ts'
import type { Box } from '../schemas/geo/area.ts'
import { WentBackError, type Change, type Fold, type ProjectionBatch } from './projection-batch.ts'

export type {
  ErasureEntry,
  PositionEntry,
  ProjectionEntry,
  ReportEntry,
  SeenEntry,
} from '../schemas/events/log-entry.ts'
export { WentBackError }
export type { Change, Fold, ProjectionBatch }

// The part of the store's port that is built from the log, and the settings joined with it. Every
// method may throw a `DependencyError`: `retriable` when the store is down or busy. Times are
// milliseconds since the epoch.

/**
 * Written by the projector from the log; can be dropped and rebuilt. The store's own read models
 * are those of the current generation and follow a switch within two seconds; a projector opens one
 * generation and stays with it.
 */
export interface ReadModels {
  /**
   * The last offset processed in each partition. It is durable with, or after, everything it
   * covers, so it never runs ahead, however the read models are copied and restored.
   */
  checkpoint(): Promise<Offsets>

  /**
   * Stores a batch's records and folds them into the device statuses, so that in effect each record
   * is stored and counted once: a repeat of a stored recordId changes no record, and is folded as a
   * sign of life; a batch that is delivered again changes nothing. An erasure removes the status
   * and every record of its device that precede it in the log, including late writes of another
   * projector, which has since lost the partition. After the erasure the device starts afresh,
   * except for events from a spool that were received before it. The operators' settings of the
   * device remain. A heartbeat of a device without a status has no effect.
   * @throws {WentBackError} if they lack entries before the batch.
   */
  project(batch: ProjectionBatch): Promise<readonly Change[]>

  /**
   * Removes records received before `receivedBefore`, and devices from which nothing was received
   * since `seenBefore` (by default the same). Stops early when `signal` is aborted; the next call
   * continues.
   */
  expire(
    receivedBefore: number,
    options?: { readonly seenBefore?: number; readonly signal?: AbortSignal },
  ): Promise<void>

  /**
   * The number of days from receipt to removal of records, as the projector has set it; undefined:
   * never removed. Records and devices beyond it may already be absent from reads.
   */
  retentionDays(): Promise<number | undefined>

  findPosition(query: { accountId: string; recordId: string }): Promise<PositionRecord | undefined>

  /** A device's records by time; at equal times in the order of the log. */
  pagePositions(query: HistoryPage & { readonly order: 'asc' | 'desc' }): Promise<PositionRecord[]>

  /**
   * Returns a page of history, ascending, with only the fields that a track needs: a day may have
   * 86 400 records.
   */
  pageTrack(query: HistoryPage): Promise<TrackStep[]>

  /**
   * Finds each device's last record with a timestamp before `before`, in any order; omits devices
   * without one.
   */
  findLastPositions(query: {
    readonly accountId: string
    readonly deviceIds: readonly string[]
    readonly before: number
  }): Promise<PositionRecord[]>

  /**
   * The tracks of those of these devices that have a record in the boxes, or are in `following`, in
   * the first part of a range, up to `until`: at most `limit` records unless one millisecond has
   * more. Call it again for the rest. Each track is in the order of a history.
   */
  readNear(query: NearQuery): Promise<{
    readonly until: number
    readonly tracks: ReadonlyMap<string, readonly NearStep[]>
  }>

  /**
   * The points of a track for these records of a device, in this order; missing records are left
   * out.
   */
  findTrackPoints(query: {
    readonly accountId: string
    readonly deviceId: string
    readonly recordIds: readonly string[]
  }): Promise<TrackRow[]>

  /**
   * The number of a device's records with a timestamp from each of the ascending bounds up to the
   * next one (exclusive): the result has one number fewer than there are bounds.
   */
  countPositions(query: {
    readonly accountId: string
    readonly deviceId: string
    readonly bounds: readonly number[]
  }): Promise<number[]>
}

/** A range of time from `from`, inclusive, to `to`, exclusive. */
export type NearQuery = {
  readonly accountId: string
  readonly deviceIds: readonly string[]
  /** A subset of these devices. */
  readonly following: readonly string[]
  readonly from: number
  readonly to: number
  /** One or two boxes in WGS84 degrees, edges included. */
  readonly boxes: readonly Box[]
  /** The most records of these devices in one part, near or not. */
  readonly limit: number
}

export type NearStep = Pick<TrackStep, 'timestamp' | 'latitude' | 'longitude' | 'accuracy'>

/** A page of a device's records from `from`, inclusive, to `to`, exclusive. */
export type HistoryPage = {
  readonly accountId: string
  readonly deviceId: string
  readonly from?: number
  readonly to?: number
  readonly limit: number
  /** The last record of the previous page. */
  readonly after?: HistoryPlace
}

/**
 * Devices erased by operators, from the request until the projector has applied the erasure. An
 * erasure starts another life of the device. Data that operators wrote about it in the previous
 * life is removed, and a change that belongs to that life is rejected, even if it reaches the store
 * later.
 */
export interface Erasures {
  /**
   * Called before the event is appended to the log: `forgetErased` then completes the erasure even
   * if the process that requested it ends.
   */
  announceErasure(erasure: DeviceErased): Promise<void>

  /**
   * Hides the device and its records from every read of this store until the current read models
   * have applied this very erasure (they may have already), and then starts its next life. Called
   * once the event is durable in the log.
   */
  hideErased(erasure: DeviceErased): Promise<void>

  /**
   * Called by the projector before it applies an erasure: does the same as `hideErased` unless
   * already done. If the erasure was never announced, only settings changed up to then are removed.
   */
  forgetErased(erasure: DeviceErased): Promise<void>

  /**
   * Removes what definitions, the audit and the rejected reports contain about hidden devices, or
   * about one. Called once a device is hidden, and by the projector every minute, in case a process
   * ended in between: projecting never waits for it.
   */
  finishErasures(device?: { readonly accountId: string; readonly deviceId: string }): Promise<void>

  /**
   * The current lives of those of these devices that have been erased. Read this before you check
   * that a device exists and is visible, and pass it to the change.
   */
  livesOf(query: {
    readonly accountId: string
    readonly deviceIds: readonly string[]
  }): Promise<Lives>

  /**
   * The erasures of these devices. `pending`: a hidden device's erasure is not applied yet; `upTo`:
   * the offset of the last applied erasure, by partition; `erasedAt`: the time of the newest one,
   * applied or not. Devices never erased are omitted.
   */
  erasuresOf(query: {
    readonly accountId: string
    readonly deviceIds: readonly string[]
  }): Promise<ReadonlyMap<string, DeviceErasures>>
}

/** Lives by deviceId; devices without a remembered erasure are omitted. */
export type Lives = ReadonlyMap<string, string>

export type DeviceErasures = {
  readonly pending: boolean
  readonly upTo: Offsets
  readonly erasedAt: number
}

/** Device statuses joined with the devices' settings. */
export interface Devices {
  findDevice(query: { accountId: string; deviceId: string }): Promise<Device | undefined>

  /**
   * Whether operators have disabled the device. Also true for a device that reads no longer return
   * because retention has removed it. False for an erased device.
   */
  isDisabled(query: { accountId: string; deviceId: string }): Promise<boolean>

  /** Existing devices among these, in any order. */
  findDevices(query: { accountId: string; deviceIds: readonly string[] }): Promise<Device[]>

  /**
   * The ranks of devices in the order of `sort`; equal devices by deviceId, in the order of its
   * UTF-8 bytes. Fewer than `limit` only if there are no more. Each device appears once, but one
   * whose value changes in the meantime may be missing.
   */
  placeDevices(query: DeviceQuery): Promise<DevicePlace[]>

  /** The devices at these ranks; one erased in the meantime is replaced by the next. */
  pageDevices(query: DeviceQuery): Promise<PagedDevice[]>

  /** The number of devices by their status at `now`, and of disabled ones. */
  countDevices(query: {
    readonly accountId: string
    readonly now: number
    /** Only these: exact ids, and prefixes ending in `*`. */
    readonly devices?: readonly string[]
  }): Promise<DeviceCounts>

  /** The devices with an expected interval set by operators, even if they have never reported. */
  devicesWithInterval(accountId: string): Promise<DeviceInterval[]>

  /**
   * `null` clears a value; absent fields remain unchanged. `changedAt`: now, in milliseconds.
   * Returns undefined, and changes nothing, if the device has been erased since `life` was read.
   */
  changeDeviceSettings(change: {
    readonly accountId: string
    readonly deviceId: string
    readonly life?: string | undefined
    readonly changedAt: number
    readonly name?: string | null
    readonly disabled?: boolean
    readonly expectedIntervalSeconds?: number | null
    /** All labels it then has. */
    readonly labels?: readonly string[]
  }): Promise<DeviceSettings | undefined>

  /**
   * Changes the labels of many devices. A device that would have more than `MOST_LABELS` is not
   * changed, nor is one erased since `lives` was read. The results are in the order of `deviceIds`.
   */
  changeLabels(
    change: LabelChange & {
      readonly accountId: string
      readonly deviceIds: readonly string[]
      readonly lives?: Lives
      readonly changedAt: number
    },
  ): Promise<LabelledDevice[]>

  /** The labels of the account's devices, sorted, with the number of devices that have each. */
  countLabels(query: {
    readonly accountId: string
    readonly limit: number
    /** The last label of the previous page. */
    readonly after?: string
    /** Only these: exact ids, and prefixes ending in `*`. */
    readonly devices?: readonly string[]
  }): Promise<LabelCount[]>
}

export type DeviceInterval = {
  readonly deviceId: string
  readonly expectedIntervalSeconds: number
}

export type LabelledDevice = {
  readonly deviceId: string
  readonly outcome: 'changed' | 'unchanged' | 'too many' | 'erased'
  readonly labels: readonly string[]
}

export type LabelCount = { readonly label: string; readonly devices: number }

export type DeviceCounts = Readonly<Record<Liveness | 'total' | 'disabled', number>>

/** The rank of a device in a list. */
export type DevicePlace = {
  readonly deviceId: string
  /** The device's value in the column that the list is sorted by. */
  readonly value: SortValue
}

/** A device on a page, with the cursor key of the next page. */
export type PagedDevice = Device & { readonly place: DevicePlace }

export type DeviceQuery = {
  readonly accountId: string
  readonly limit: number
  /** `match`: the best match for `words` first, regardless of `order`. By default `deviceId`. */
  readonly sort?: DeviceSort | 'match'
  readonly order?: 'asc' | 'desc'
  /** The end of the previous page. */
  readonly after?: DevicePlace
  /** Area of the last position, edges included, in WGS84 degrees; west > east crosses 180°. */
  readonly bbox?: {
    readonly west: number
    readonly south: number
    readonly east: number
    readonly north: number
  }
  /** Only these: exact ids, and prefixes ending in `*`. */
  readonly devices?: readonly string[]
  /** Devices whose newest report or heartbeat was sent with this key. */
  readonly keyId?: string
  /** Each must occur in the deviceId or the name; at least one. */
  readonly words?: readonly SearchKey[]
  /** Devices that have all of these; at least one. */
  readonly labels?: readonly string[]
  /** The liveness at `now`, as computed by `liveness`. */
  readonly status?: { readonly is: Liveness; readonly now: number }
  /** lastSeenAt: `seenFrom` inclusive, `seenBefore` exclusive. */
  readonly seenFrom?: number
  readonly seenBefore?: number
}
