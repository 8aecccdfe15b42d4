import type { PositionReported } from '../schemas/position-reported.ts'
import type {
  Device,
  DeviceSettings,
  DeviceStatus,
  Offsets,
  Origin,
  PositionRecord,
} from '../schemas/read-models.ts'

/**
 * What the services keep and ask. Every method may throw a `DependencyError`: `retriable` when the
 * store is away or busy. Times are milliseconds since the epoch.
 */
export interface Store extends ReadModels, Generations, Devices, Keys, Operators {
  /** Resolves when the store answers. @throws {DependencyError} saying what is missing. */
  ready(): Promise<void>
  close(): Promise<void>
}

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
   * that is delivered again changes nothing.
   */
  project(batch: ProjectionBatch): Promise<{ readonly stored: number; readonly repeated: number }>

  /** Removes records received before `receivedBefore`, and devices not seen since. */
  expire(receivedBefore: number): Promise<void>

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
  readonly entries: readonly { readonly origin: Origin; readonly event: PositionReported }[]
  /** Pure; gives back `previous` itself for an entry that it has already applied. */
  readonly fold: (
    previous: DeviceStatus | undefined,
    entry: { readonly origin: Origin; readonly event: PositionReported },
  ) => DeviceStatus
}

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
   * Puts `to` in use.
   * @throws {DependencyError} not retriable when another rebuild has taken over.
   */
  switchOver(): Promise<void>
  /** Removes the one of the two that is not in use, for good, and lets others rebuild. */
  end(): Promise<void>
}

/** Device statuses joined with what operators said of the devices. */
export interface Devices {
  findDevice(query: { accountId: string; deviceId: string }): Promise<Device | undefined>

  /** Devices by deviceId, in the order of its UTF-8 bytes. */
  pageDevices(query: {
    readonly accountId: string
    readonly limit: number
    readonly after?: string
  }): Promise<Device[]>

  /** `null` takes a value away; what is not named stays. */
  changeDeviceSettings(change: {
    readonly accountId: string
    readonly deviceId: string
    readonly name?: string | null
    readonly disabled?: boolean
    readonly expectedIntervalSeconds?: number | null
  }): Promise<DeviceSettings>
}

export type Account = {
  readonly id: string
  readonly name: string
  readonly suspended: boolean
  readonly createdAt: number
}

export const SCOPES = ['positions:write', 'positions:read', 'devices:read', 'admin'] as const
export type Scope = (typeof SCOPES)[number]

export type ApiKey = {
  readonly id: string
  readonly accountId: string
  readonly name: string
  /** First and last characters of the secret, to tell keys apart by eye. */
  readonly hint: string
  readonly scopes: readonly Scope[]
  readonly createdAt: number
  readonly expiresAt?: number
  readonly revokedAt?: number
  readonly lastUsedAt?: number
  /** The devices it may report for: exact ids, or prefixes that end in `*`. Absent: all. */
  readonly deviceIds?: readonly string[]
  /** Positions per 60 s; absent: the service's own limit. */
  readonly rateLimit?: number
}

/** All that a service decides by when a secret is shown to it. */
export type KeyGrant = {
  readonly key: ApiKey
  readonly accountSuspended: boolean
  /** Ids of the account's disabled devices. */
  readonly disabledDevices: ReadonlySet<string>
}

export interface Keys {
  /** `secretHash`: SHA-256 of the secret; the secret itself never reaches the store. */
  createKey(key: ApiKey, secretHash: Uint8Array): Promise<void>
  /** Newest first. `after` is the id of the last key seen. */
  pageKeys(query: { accountId: string; limit: number; after?: string }): Promise<ApiKey[]>
  findKey(query: { accountId: string; keyId: string }): Promise<ApiKey | undefined>
  /** Gives the key as it is then; an earlier revocation stays as it was. */
  revokeKey(query: {
    accountId: string
    keyId: string
    revokedAt: number
  }): Promise<ApiKey | undefined>
  /** Expired and revoked keys are found too: the caller decides. */
  findGrant(secretHash: Uint8Array): Promise<KeyGrant | undefined>
  /** Moves `lastUsedAt` forward, never back. */
  touchKeys(usedAt: ReadonlyMap<string, number>): Promise<void>
}

export const ROLES = ['admin', 'viewer'] as const
export type Role = (typeof ROLES)[number]

export type Operator = {
  readonly id: string
  readonly accountId: string
  /** As given; unique in the whole service, case ignored. */
  readonly email: string
  readonly role: Role
  readonly platform: boolean
  readonly passwordHash: string
  readonly createdAt: number
}

export type Session = {
  /** SHA-256 of the cookie's value. */
  readonly tokenHash: Uint8Array
  readonly operatorId: string
  readonly createdAt: number
  readonly lastSeenAt: number
}

export interface Operators {
  /**
   * Makes the first account and its first operator, unless there is an operator already.
   * However many processes try at once, one succeeds.
   */
  createFirstOperator(first: { account: Account; operator: Operator }): Promise<boolean>
  findOperatorByEmail(email: string): Promise<Operator | undefined>
  createAccount(account: Account): Promise<void>
  findAccount(accountId: string): Promise<Account | undefined>
  /** A suspended account's keys and operators are refused; its data stay. */
  suspendAccount(query: { accountId: string; suspended: boolean }): Promise<Account | undefined>
  createSession(session: Session): Promise<void>
  findSession(
    tokenHash: Uint8Array,
  ): Promise<{ session: Session; operator: Operator; account: Account } | undefined>
  touchSession(query: { tokenHash: Uint8Array; lastSeenAt: number }): Promise<void>
  deleteSession(tokenHash: Uint8Array): Promise<void>
  /** Housekeeping: sessions begun before `createdBefore` or idle since `seenBefore` go. */
  deleteSessions(query: { createdBefore: number; seenBefore: number }): Promise<void>
}
