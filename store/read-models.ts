import type { DeviceErased } from '../schemas/device-erased.ts'
import type { PositionReported } from '../schemas/position-reported.ts'
import type {
  AppliedEvents,
  Device,
  DeviceSettings,
  DeviceStatus,
  Liveness,
  Offsets,
  Origin,
  PositionRecord,
} from '../schemas/read-models.ts'

// The part of the store's port that is made from the log, and what joins it. Every method may throw
// a `DependencyError`: `retriable` when the store is away or busy. Times are milliseconds since the epoch.

/**
 * Written by the projector from the log; can be dropped and rebuilt from it. The store's own are
 * those of the generation in use, and follow a change of it within two seconds: whoever carries the
 * log into them opens one generation and keeps to it.
 */
export interface ReadModels {
  /**
   * How far the read models have come in each partition, where they keep that themselves (and so
   * know it better than the log); undefined where only the log's committed offsets tell.
   */
  checkpoint(): Promise<Offsets | undefined>

  /**
   * Stores a batch's records and folds them into the device statuses, so that in effect each
   * record is stored and counted once: a repeat of a stored recordId changes nothing, and a batch
   * that is delivered again changes nothing. An erasure removes the status and every record of its
   * device that stands before it in the log, whoever brings them and whenever: also what another
   * projector, which has lost the partition meanwhile, writes late. What stands behind it starts
   * afresh. What operators said of the device is not touched.
   */
  project(batch: ProjectionBatch): Promise<readonly Change[]>

  /**
   * Removes records received before `receivedBefore`, and devices not seen since. Leaves the rest for
   * the next time once `signal` is aborted.
   */
  expire(receivedBefore: number, signal?: AbortSignal): Promise<void>

  findPosition(query: { accountId: string; recordId: string }): Promise<PositionRecord | undefined>

  /** A device's records by (timestamp, recordId). `from` is inclusive, `to` exclusive. */
  pagePositions(query: {
    readonly accountId: string
    readonly deviceId: string
    readonly from?: number
    readonly to?: number
    readonly order: 'asc' | 'desc'
    readonly limit: number
    readonly after?: { readonly timestamp: number; readonly recordId: string }
  }): Promise<PositionRecord[]>
}

export type ProjectionBatch = {
  readonly partition: number
  /** The last offset of the batch as it was read, entries or not. */
  readonly lastOffset: number
  readonly entries: readonly ProjectionEntry[]
  /** Pure; gives back `previous` itself for an entry that it has already applied. */
  readonly fold: (previous: DeviceStatus | undefined, entry: PositionEntry) => DeviceStatus
}

/**
 * What a batch made of one device, as the fold tells it. A batch that is delivered again changes
 * nothing: all it may tell once more are repeats.
 */
export type Change = {
  readonly accountId: string
  readonly deviceId: string
  /** Its status before the batch and after it; undefined: it has none. */
  readonly before: DeviceStatus | undefined
  readonly after: DeviceStatus | undefined
  /**
   * Stored and counted now, in the order of the log; without what the batch itself erased. Counted
   * decides: a projector that died before it counted may have stored the record already.
   */
  readonly stored: readonly PositionEntry[]
  /** Repeats of stored records, and of erasures that are applied: nothing came of them. */
  readonly repeated: readonly ProjectionEntry[]
  readonly erased: readonly ErasureEntry[]
}

export type PositionEntry = {
  readonly kind: 'position'
  readonly origin: Origin
  readonly event: PositionReported
}

export type ErasureEntry = {
  readonly kind: 'erasure'
  readonly origin: Origin
  readonly event: DeviceErased
}

export type ProjectionEntry = PositionEntry | ErasureEntry

/** The read models exist in generations: one is in use, a rebuild makes the next one beside it. */
export interface Generations {
  /** The generation in use; the first one is 1. */
  currentGeneration(): Promise<number>

  /** @throws {DependencyError} retriable when it is neither in use nor being built. */
  openGeneration(generation: number): Promise<Generation>

  /**
   * Begins a generation that no rebuild has had before, and removes what earlier ones left behind.
   * Undefined while another rebuild is under way; one that died counts for up to 30 s.
   */
  beginRebuild(): Promise<Rebuild | undefined>
}

/** One generation, whether in use or not: to project into, and to compare with another. */
export interface Generation extends Pick<ReadModels, 'checkpoint' | 'project'> {
  /**
   * Of each partition the last event that was applied, or is about to be: by its id it is known
   * whether the log is still the one that the generation was made from.
   */
  lastApplied(): Promise<AppliedEvents>

  /** The least and the greatest offset that records received since come from, by partition. */
  origins(query: { receivedSince: number }): Promise<ReadonlyMap<number, OriginBounds>>

  /** The accounts that have anything in it. */
  accounts(): Promise<string[]>

  /** Device statuses by deviceId, in the order of its UTF-8 bytes. */
  pageStatuses(query: {
    readonly accountId: string
    readonly limit: number
    readonly after?: string
  }): Promise<DeviceStatus[]>

  /** Every record of the devices after `after`, up to and with `upTo`, in chunks. */
  scanRecords(query: {
    readonly accountId: string
    readonly after?: string
    readonly upTo?: string
  }): AsyncIterable<readonly PositionRecord[]>

  /**
   * The offset of the last erasure applied to each of these devices, by partition: to be read from
   * before anything of the device goes. Devices never erased are left out.
   */
  erasedUpTo(query: {
    readonly accountId: string
    readonly deviceIds: readonly string[]
  }): Promise<ReadonlyMap<string, Offsets>>

  close(): Promise<void>
}

export type OriginBounds = { readonly least: number; readonly greatest: number }

/** A rebuild under way; nobody else can begin one until it has ended. */
export interface Rebuild {
  /** The generation that was in use when it began. */
  readonly from: number
  /** The one that it builds; empty at first. */
  readonly to: number
  /** Aborted when another rebuild has taken over, because this one was silent for too long. */
  readonly lost: AbortSignal
  /**
   * Forgets of hidden devices those whose erasure `from` has applied. From then on none is forgotten
   * before the switch: what is erased meanwhile stays hidden until `to` has applied it too. To be
   * called before it is looked how far `to` has to come.
   */
  settleErasures(): Promise<void>
  /**
   * Puts `to` in use.
   * @throws {DependencyError} not retriable when another rebuild has taken over.
   */
  switchOver(): Promise<void>
  /** Removes the one of the two that is not in use, for good, and lets others rebuild. */
  end(): Promise<void>
}

/** Devices that operators had erased, from the moment they asked until the projector has done it. */
export interface Erasures {
  /**
   * From now on until the read models in use have applied this very erasure (which they may have
   * already), the device and its records are as good as absent from every read of this store.
   * Called once the event is durable in the log.
   */
  hideErased(erasure: DeviceErased): Promise<void>

  /**
   * What is erased of these devices: `pending` while one that was hidden is not applied yet, `upTo`
   * the offset of the last erasure applied, by partition. Devices never erased are left out.
   */
  erasuresOf(query: {
    readonly accountId: string
    readonly deviceIds: readonly string[]
  }): Promise<ReadonlyMap<string, { readonly pending: boolean; readonly upTo: Offsets }>>
}

/** Device statuses joined with what operators said of the devices. */
export interface Devices {
  findDevice(query: { accountId: string; deviceId: string }): Promise<Device | undefined>

  /** Existing devices among these, in any order. */
  findDevices(query: { accountId: string; deviceIds: readonly string[] }): Promise<Device[]>

  /**
   * Devices by deviceId, in the order of its UTF-8 bytes, or by (lastSeenAt, deviceId). Fewer than
   * `limit` only where there are no more.
   */
  pageDevices(query: DevicePage): Promise<Device[]>

  /** The deviceIds for which operators set an expected interval, whether they have reported or not. */
  devicesWithInterval(accountId: string): Promise<string[]>

  /** `null` takes a value away; what is not named stays. `changedAt`: now, in milliseconds. */
  changeDeviceSettings(change: {
    readonly accountId: string
    readonly deviceId: string
    readonly changedAt: number
    readonly name?: string | null
    readonly disabled?: boolean
    readonly expectedIntervalSeconds?: number | null
  }): Promise<DeviceSettings>

  /** Removes what operators said of a device, unless one said something after `changedUpTo`. */
  forgetDeviceSettings(device: {
    readonly accountId: string
    readonly deviceId: string
    readonly changedUpTo: number
  }): Promise<void>
}

export type DevicePage = {
  readonly accountId: string
  readonly limit: number
  readonly sort?: 'deviceId' | 'lastSeenAt'
  readonly order?: 'asc' | 'desc'
  /** The place after which the page begins: the last device of the page before. */
  readonly after?: { readonly deviceId: string; readonly lastSeenAt: number }
  /** Where the last position is, edges included, in WGS84 degrees; west > east crosses 180°. */
  readonly bbox?: {
    readonly west: number
    readonly south: number
    readonly east: number
    readonly north: number
  }
  /** Only these: exact ids, and beginnings of such that end in `*`. */
  readonly devices?: readonly string[]
  /** What the deviceId or the name contains, capital and small letters alike, however composed. */
  readonly mentions?: string
  /** As `liveness` tells it, seen from `now`. */
  readonly status?: { readonly is: Liveness; readonly now: number }
  /** lastSeenAt: `seenFrom` inclusive, `seenBefore` exclusive. */
  readonly seenFrom?: number
  readonly seenBefore?: number
}
