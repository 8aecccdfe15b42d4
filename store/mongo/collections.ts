import { randomUUID } from 'node:crypto'
import type { Collection, Db, CollectionInfo, Document } from 'mongodb'
import type { DeviceErased } from '../../schemas/events/device-erased.ts'
import type { Reading, ReadingKind } from '../../schemas/devices/device-readings.ts'
import type {
  DeviceSettings,
  DeviceStatus,
  NewestHeartbeat,
  LastPosition,
  Offsets,
  PositionRecord,
} from '../../schemas/devices/read-models.ts'

/**
 * Options for every read except scans in steps: the server ends reads whose caller has given up.
 */
export const READ = { maxTimeMS: 5_000 } as const

/** A shape with the named times as BSON dates. */
type Dated<T, Times extends keyof T> = Omit<T, Times> & { readonly [K in Times]: Date }

/** `_id` is `accountId/recordId`, so that every look-up names the account. */
export type PositionDocument = Dated<
  Omit<PositionRecord, 'recordId'>,
  'timestamp' | 'receivedAt'
> & { readonly _id: string }

/** The erasures of a device, which stay in its status document when the rest is removed. */
export type Erased = {
  /** The offset of the last erasure, per partition. */
  readonly upTo: Offsets
  /** The time of the newest erasure, per partition. */
  readonly at: Readonly<Record<number, Date>>
  /** The eventIds of the last erasures, in the order of application. */
  readonly ids: readonly string[]
}

type StatusTime = 'firstSeenAt' | 'lastSeenAt' | 'lastReceivedAt' | 'lastKeyAt'

export type ReadingDocuments = {
  readonly [Kind in ReadingKind]?: Readonly<Record<number, Dated<Reading, 'receivedAt'>>>
}

/**
 * `_id` is `accountId/deviceId`. The document of an erased device remains, with its erasures; there
 * is no last position until it reports again.
 */
export type DeviceStatusDocument = Pick<DeviceStatus, 'accountId' | 'deviceId' | 'applied'> &
  Partial<Dated<Pick<DeviceStatus, StatusTime>, StatusTime>> &
  Partial<Pick<DeviceStatus, 'reportCount' | 'lastKeyEventId' | 'lastKeyId' | 'lastOrigin'>> & {
    readonly _id: string
    readonly heartbeats?: Readonly<Record<number, Dated<NewestHeartbeat, 'receivedAt'>>>
    readonly readings?: ReadingDocuments
    readonly lastPosition?: Dated<LastPosition, 'timestamp' | 'receivedAt'>
    readonly erased?: Erased
    readonly erasedAt?: Date
    /** A new value with each erasure, until its records are removed. */
    readonly removing?: string
  }

/** The checkpoint of a partition, whose number is the `_id`, and the last event applied from it. */
export type CheckpointDocument = {
  readonly _id: number
  /** The last offset processed. */
  readonly upTo: number
  readonly offset: number
  readonly id: string
  /** The version of the fold; null if several versions projected the partition. */
  readonly fold: number | null
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
  /** Absent if it was last changed before this field existed. */
  readonly changedAt?: Date
  /**
   * When the labels last changed, and when the device was last enabled; absent if version 0.3.0 did
   * so.
   */
  readonly labelsChangedAt?: Date
  readonly enabledAt?: Date
  /** Absent from a change until a follower has numbered it; see `watchSettings`. */
  readonly version?: number
  /**
   * The `changedAt` that the version applies to: 0.3.0, which may be running beside this version,
   * leaves both unchanged.
   */
  readonly numberedAt?: Date
  /**
   * A new value with each erasure; the document of an erased device remains, although nothing is
   * set.
   */
  readonly life?: string
}

export type LockName = 'migration-lock' | 'rebuild-lock'

/** Facts about the database, one document per kind; `_id` is the kind. */
export type MetaDocument = {
  readonly _id: 'schema' | 'read-models' | LockName
  readonly version?: number
  /** The current generation, and the newest that a rebuild has started. */
  readonly generation?: number
  readonly newest?: number
  /** The newest generation, while it may still become current. */
  readonly building?: number
  readonly owner?: string
  readonly until?: Date
}

/** The collections not rebuilt from the log of positions, except those of the back office. */
export type Collections = {
  readonly deviceSettings: Collection<DeviceSettingsDocument>
  readonly hiddenDevices: Collection<HiddenDeviceDocument>
  readonly meta: Collection<MetaDocument>
}

/** The collections of one generation of the read models. */
export type ReadModelCollections = {
  readonly applied: Collection<CheckpointDocument>
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

/** The read models of one generation; a rebuild fills the next one beside the current ones. */
export function openReadModels(db: Db, generation: number): ReadModelCollections {
  return {
    applied: db.collection(`applied_g${generation}`),
    positions: db.collection(`positions_g${generation}`),
    deviceStatuses: db.collection(`device_status_g${generation}`),
  }
}

/** Matches no document. */
const NOTHING: Document = { _id: { $exists: false } }

/**
 * Permanently removes the collections of the generations `gone`, leaving empty ones that accept no
 * document. Otherwise a projector that has not yet noticed the end of its generation would recreate
 * a collection by writing to it.
 */
export async function sealReadModels(db: Db, gone: (generation: number) => boolean): Promise<void> {
  const collections = await db.listCollections<CollectionInfo>().toArray()
  for (const { name, options } of collections) {
    const generation = /^(?:positions|device_status|applied)_g(\d+)$/.exec(name)?.[1]
    if (generation === undefined || !gone(Number(generation))) continue
    if (options?.['validator'] === undefined) await replaceWithSealed(db, name)
  }
}

async function replaceWithSealed(db: Db, name: string): Promise<void> {
  const sealed = `sealed_${randomUUID()}`
  await db.createCollection(sealed, { validator: NOTHING })
  // Atomic, so that a collection of this name always exists.
  await db.renameCollection(sealed, name, { dropTarget: true })
  // Not every compatible server keeps the validator on a rename.
  await db.command({ collMod: name, validator: NOTHING })
}
