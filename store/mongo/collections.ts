import type { Collection, Db } from 'mongodb'
import type {
  DeviceSettings,
  DeviceStatus,
  LastPosition,
  PositionRecord,
} from '../../schemas/read-models.ts'
import type { Account, ApiKey, Operator, Session } from '../store.ts'

/** A shape with the named times as BSON dates. */
type Dated<T, Times extends keyof T> = Omit<T, Times> & { readonly [K in Times]: Date }

/** `_id` is `accountId/recordId`; the account's part of it is what makes a look-up name the account. */
export type PositionDocument = Dated<
  Omit<PositionRecord, 'recordId'>,
  'timestamp' | 'receivedAt'
> & { readonly _id: string }

/** `_id` is `accountId/deviceId`. */
export type DeviceStatusDocument = Dated<
  Omit<DeviceStatus, 'lastPosition'>,
  'firstSeenAt' | 'lastSeenAt'
> & {
  readonly _id: string
  readonly lastPosition: Dated<LastPosition, 'timestamp' | 'receivedAt'>
}

/** `_id` is `accountId/deviceId`. */
export type DeviceSettingsDocument = DeviceSettings & {
  readonly _id: string
  readonly accountId: string
  readonly deviceId: string
}

export type AccountDocument = Dated<Omit<Account, 'id'>, 'createdAt'> & { readonly _id: string }

/** `first` stands on the very first operator alone: a unique index lets only one have it. */
export type OperatorDocument = Dated<Omit<Operator, 'id'>, 'createdAt'> & {
  readonly _id: string
  readonly emailLowerCase: string
  readonly first?: true
}

export type SessionDocument = Dated<Omit<Session, 'tokenHash'>, 'createdAt' | 'lastSeenAt'> & {
  readonly _id: Uint8Array
}

/** A key has one secret, or two while it is being rotated. */
export type ApiKeyDocument = Omit<
  Dated<ApiKey, 'createdAt'>,
  'id' | 'expiresAt' | 'revokedAt' | 'lastUsedAt'
> & {
  readonly _id: string
  readonly expiresAt?: Date
  readonly revokedAt?: Date
  readonly lastUsedAt?: Date
  readonly secrets: readonly { readonly hash: Uint8Array; readonly validUntil?: Date }[]
}

export type LockName = 'migration-lock' | 'rebuild-lock'

/** What the database says of itself: each kind of fact has one document, its `_id` the kind. */
export type MetaDocument = {
  readonly _id: 'schema' | 'read-models' | LockName
  readonly version?: number
  /** The generation in use, and the newest that a rebuild has begun (absent: none has). */
  readonly generation?: number
  readonly newest?: number
  readonly owner?: string
  readonly until?: Date
}

/** What operators said; not rebuilt from the log. */
export type Collections = {
  readonly accounts: Collection<AccountDocument>
  readonly operators: Collection<OperatorDocument>
  readonly sessions: Collection<SessionDocument>
  readonly keys: Collection<ApiKeyDocument>
  readonly deviceSettings: Collection<DeviceSettingsDocument>
  readonly meta: Collection<MetaDocument>
}

/** One generation of what the projector writes. */
export type ReadModelCollections = {
  readonly positions: Collection<PositionDocument>
  readonly deviceStatuses: Collection<DeviceStatusDocument>
}

export function openCollections(db: Db): Collections {
  return {
    accounts: db.collection('accounts'),
    operators: db.collection('operators'),
    sessions: db.collection('sessions'),
    keys: db.collection('api_keys'),
    deviceSettings: db.collection('device_settings'),
    meta: db.collection('meta'),
  }
}

/** The read models of one generation; a rebuild fills the next one beside those in use. */
export function openReadModels(db: Db, generation: number): ReadModelCollections {
  return {
    positions: db.collection(`positions_g${generation}`),
    deviceStatuses: db.collection(`device_status_g${generation}`),
  }
}
