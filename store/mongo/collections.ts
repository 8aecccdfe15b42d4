import type { Collection, Db } from 'mongodb'
import type { DeviceErased } from '../../schemas/device-erased.ts'
import type {
  DeviceSettings,
  DeviceStatus,
  LastPosition,
  Offsets,
  PositionRecord,
} from '../../schemas/read-models.ts'

/** For every read but a scan in steps: the server ends one that its caller has given up. */
export const READ = { maxTimeMS: 5_000 } as const

/** A shape with the named times as BSON dates. */
type Dated<T, Times extends keyof T> = Omit<T, Times> & { readonly [K in Times]: Date }

/** `_id` is `accountId/recordId`; the account's part of it is what makes a look-up name the account. */
export type PositionDocument = Dated<
  Omit<PositionRecord, 'recordId'>,
  'timestamp' | 'receivedAt'
> & { readonly _id: string }

/** What of a device is erased; stays in its status document when all else of the device is gone. */
export type Erased = {
  /** The offset of the last erasure, per partition. */
  readonly upTo: Offsets
  /** The time of the newest erasure, per partition. */
  readonly at: Readonly<Record<number, Date>>
  /** The eventIds of the last erasures, in the order in which they were applied. */
  readonly ids: readonly string[]
}

/**
 * `_id` is `accountId/deviceId`. Of a device that was erased the document stays, with what is
 * erased of it: without a last position while nothing was reported since.
 */
export type DeviceStatusDocument = Pick<DeviceStatus, 'accountId' | 'deviceId' | 'applied'> &
  Partial<Dated<Pick<DeviceStatus, 'firstSeenAt' | 'lastSeenAt'>, 'firstSeenAt' | 'lastSeenAt'>> &
  Partial<Pick<DeviceStatus, 'reportCount'>> & {
    readonly _id: string
    readonly lastPosition?: Dated<LastPosition, 'timestamp' | 'receivedAt'>
    readonly erased?: Erased
    readonly erasedAt?: Date
    /** Another one with each erasure, while its records are still to be removed. */
    readonly removing?: string
  }

/** The last event applied of a partition, which is its `_id`. */
export type AppliedEventDocument = {
  readonly _id: number
  readonly offset: number
  readonly id: string
}

/** `_id` is the erasure's eventId. */
export type HiddenDeviceDocument = Dated<Omit<DeviceErased, 'eventId'>, 'erasedAt'> & {
  readonly _id: string
}

/** `_id` is `accountId/deviceId`. */
export type DeviceSettingsDocument = DeviceSettings & {
  readonly _id: string
  readonly accountId: string
  readonly deviceId: string
  /** Absent where it was last changed before this was written down. */
  readonly changedAt?: Date
}

export type LockName = 'migration-lock' | 'rebuild-lock'

/** What the database says of itself: each kind of fact has one document, its `_id` the kind. */
export type MetaDocument = {
  readonly _id: 'schema' | 'read-models' | LockName
  readonly version?: number
  /** The generation in use, and the newest that a rebuild has begun (absent: none has). */
  readonly generation?: number
  readonly newest?: number
  /** The newest one, while it may still be put in use. */
  readonly building?: number
  readonly owner?: string
  readonly until?: Date
}

/** What is not rebuilt from the log of positions; the back office has collections of its own. */
export type Collections = {
  readonly deviceSettings: Collection<DeviceSettingsDocument>
  readonly hiddenDevices: Collection<HiddenDeviceDocument>
  readonly meta: Collection<MetaDocument>
}

/** One generation of what the projector writes. */
export type ReadModelCollections = {
  readonly applied: Collection<AppliedEventDocument>
  readonly positions: Collection<PositionDocument>
  readonly deviceStatuses: Collection<DeviceStatusDocument>
}

export function openCollections(db: Db): Collections {
  return {
    deviceSettings: db.collection('device_settings'),
    hiddenDevices: db.collection('hidden_devices'),
    meta: db.collection('meta'),
  }
}

/** The read models of one generation; a rebuild fills the next one beside those in use. */
export function openReadModels(db: Db, generation: number): ReadModelCollections {
  return {
    applied: db.collection(`applied_g${generation}`),
    positions: db.collection(`positions_g${generation}`),
    deviceStatuses: db.collection(`device_status_g${generation}`),
  }
}
