import type { InstanceReport } from '../schemas/instance-report.ts'

// The operators' part of the store's port; none of its data comes from the log.

export type Account = {
  readonly id: string
  readonly name: string
  readonly suspended: boolean
  readonly createdAt: number
}

export const SCOPES = [
  'positions:write',
  'positions:import',
  'positions:read',
  'devices:read',
  'admin',
] as const
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
  /** The devices it may see: exact ids, or prefixes ending in `*`. Absent: all. */
  readonly deviceIds?: readonly string[]
  /** Positions per 60 s; absent: the service's own limit. */
  readonly rateLimit?: number
  /** After a rotation: the end of the previous secret's validity. May have passed. */
  readonly previousValidUntil?: number
}

/** Everything that decides whether a secret is accepted. */
export type KeyGrant = {
  readonly key: ApiKey
  /** The end of the presented secret's validity; absent: the key's own. */
  readonly secretValidUntil?: number
  readonly accountSuspended: boolean
  /** Ids of the account's disabled devices. */
  readonly disabledDevices: ReadonlySet<string>
}

export const KEY_STATUSES = ['active', 'expired', 'revoked', 'rotating'] as const
export type KeyStatus = (typeof KEY_STATUSES)[number]

/** A key with any status but `expired` and `revoked` is accepted. */
export function keyStatus(
  {
    revokedAt,
    expiresAt,
    previousValidUntil,
  }: Pick<ApiKey, 'revokedAt' | 'expiresAt' | 'previousValidUntil'>,
  now: number,
): KeyStatus {
  if (revokedAt !== undefined) return 'revoked'
  if (isOver(expiresAt, now)) return 'expired'
  return previousValidUntil !== undefined && now < previousValidUntil ? 'rotating' : 'active'
}

/** Whether the presented secret works for its key at this time, regardless of the account. */
export function isInForce({ key, secretValidUntil }: KeyGrant, now: number): boolean {
  const status = keyStatus(key, now)
  return status !== 'revoked' && status !== 'expired' && !isOver(secretValidUntil, now)
}

function isOver(end: number | undefined, now: number): boolean {
  return end !== undefined && now >= end
}

/** The last item of the previous page, which may have been deleted since. */
export type PlaceByAge = { readonly id: string; readonly createdAt: number }

export interface Keys {
  /** `secretHash`: SHA-256 of the secret; the secret itself never reaches the store. */
  createKey(key: ApiKey, secretHash: Uint8Array): Promise<void>
  /** Newest first. */
  pageKeys(query: { accountId: string; limit: number; after?: PlaceByAge }): Promise<ApiKey[]>
  findKey(query: { accountId: string; keyId: string }): Promise<ApiKey | undefined>
  /** Returns the revoked key; an earlier revocation is kept. */
  revokeKey(query: {
    accountId: string
    keyId: string
    revokedAt: number
  }): Promise<ApiKey | undefined>
  /** `null` clears a value; absent fields stay unchanged. */
  changeKey(change: {
    readonly accountId: string
    readonly keyId: string
    readonly name?: string
    readonly expiresAt?: number | null
    readonly deviceIds?: readonly string[] | null
    readonly rateLimit?: number | null
  }): Promise<ApiKey | undefined>
  /**
   * Gives the key a new secret. The current one works until `previousValidUntil`, older ones stop
   * working. Concurrent rotations apply one after the other. 'revoked': a revoked key is unchanged.
   */
  rotateKey(query: {
    readonly accountId: string
    readonly keyId: string
    readonly secretHash: Uint8Array
    readonly hint: string
    readonly previousValidUntil: number
  }): Promise<ApiKey | 'revoked' | undefined>
  /** Also finds expired and revoked keys, and outdated secrets: the caller decides. */
  findGrant(secretHash: Uint8Array): Promise<KeyGrant | undefined>
  /** Moves `lastUsedAt` forward, never back. */
  touchKeys(usedAt: ReadonlyMap<string, number>): Promise<void>
}

/** Each role may do all that those before it may. */
export const ROLES = ['viewer', 'dispatcher', 'admin'] as const
export type Role = (typeof ROLES)[number]

export type Operator = {
  readonly id: string
  readonly accountId: string
  /** As entered; unique in the whole service, ignoring case. */
  readonly email: string
  readonly role: Role
  readonly platform: boolean
  readonly passwordHash: string
  /** The password was made, not chosen. A new one ends this. */
  readonly mustChangePassword?: true
  readonly createdAt: number
}

/** A session ends after 30 minutes without a request, or after 12 hours. */
export const SESSION_IDLE_MS = 30 * 60_000
export const SESSION_LONGEST_MS = 12 * 60 * 60_000

export type Session = {
  /** SHA-256 of the cookie's value. */
  readonly tokenHash: Uint8Array
  readonly operatorId: string
  readonly createdAt: number
  readonly lastSeenAt: number
}

export interface Operators {
  /**
   * Creates the first account and its first operator, unless there is an operator already. One of
   * several concurrent processes succeeds.
   */
  createFirstOperator(first: { account: Account; operator: Operator }): Promise<boolean>

  /** False if the e-mail is taken anywhere in the service, ignoring case. */
  createOperator(operator: Operator): Promise<boolean>
  findOperator(query: { accountId: string; operatorId: string }): Promise<Operator | undefined>
  findOperatorByEmail(email: string): Promise<Operator | undefined>
  /** Oldest first. */
  pageOperators(query: {
    accountId: string
    limit: number
    after?: PlaceByAge
  }): Promise<Operator[]>
  /** The account and the platform each keep an admin, even under concurrent changes. */
  changeOperator(change: {
    readonly accountId: string
    readonly operatorId: string
    readonly role?: Role
    readonly platform?: boolean
    readonly passwordHash?: string
  }): Promise<Operator | OperatorKept | undefined>
  /** Also ends the operator's sessions. */
  deleteOperator(query: {
    accountId: string
    operatorId: string
  }): Promise<'deleted' | OperatorKept | undefined>

  /** With its first admin, if given: creates both or, if the e-mail is taken (false), neither. */
  createAccount(account: Account, admin?: Operator): Promise<boolean>
  findAccount(accountId: string): Promise<Account | undefined>
  /** Oldest first. */
  pageAccounts(query: { limit: number; after?: PlaceByAge }): Promise<Account[]>
  /** A suspended account's keys and operators are refused; its data is kept. */
  suspendAccount(query: { accountId: string; suspended: boolean }): Promise<Account | undefined>

  /**
   * Does nothing if the operator no longer exists. Ends the operator's oldest sessions when there are
   * too many.
   */
  createSession(session: Session): Promise<void>
  findSession(
    tokenHash: Uint8Array,
  ): Promise<{ session: Session; operator: Operator; account: Account } | undefined>
  touchSession(query: { tokenHash: Uint8Array; lastSeenAt: number }): Promise<void>
  deleteSession(tokenHash: Uint8Array): Promise<void>
  /** Ends all sessions of an operator, or all but one. */
  endSessions(query: { operatorId: string; except?: Uint8Array }): Promise<void>
}

/** A link that shows the positions of some devices to anyone who has its token. */
export type Share = {
  readonly id: string
  readonly accountId: string
  /** Absent: it is called after its devices. */
  readonly name?: string
  readonly devices: readonly SharedDevice[]
  readonly trailMinutes: number
  /** Whether it shows where its devices were when it was made. Version 0.2.0 made shares without it. */
  readonly showsNow?: boolean
  /** Whether its page may load maps from a third party. */
  readonly showsStreets?: boolean
  readonly createdAt: number
  readonly expiresAt: number
}

export type SharedDevice = {
  readonly deviceId: string
  /** Identifies the device to viewers. */
  readonly ref: string
  /** The device's name in the share, instead of its own. */
  readonly name?: string
  /** The recordId of the last position known when the share was made, if it shows that. */
  readonly lastKnown?: string
  /** The life in which the device was shared: it leaves the share once it is erased. */
  readonly life?: string
}

export interface Shares {
  /**
   * `tokenHash`: SHA-256 of the token, which never reaches the store. False, and there is no share, if
   * one of its devices has been erased since its life was read.
   */
  createShare(share: Share, tokenHash: Uint8Array): Promise<boolean>
  /** Newest first; expired ones are listed for another week. */
  pageShares(query: { accountId: string; limit: number; after?: PlaceByAge }): Promise<Share[]>
  /** Also finds expired ones: the caller decides. */
  findShare(
    tokenHash: Uint8Array,
  ): Promise<{ readonly share: Share; readonly accountSuspended: boolean } | undefined>
  /** Returns the deleted share. */
  deleteShare(query: { accountId: string; shareId: string }): Promise<Share | undefined>
  /**
   * Removes an erased device, with its name, from its account's shares that were made up to
   * `sharedUpTo` or in a life before; they no longer show it.
   */
  unshareDevice(device: {
    readonly accountId: string
    readonly deviceId: string
    readonly sharedUpTo: number
  }): Promise<void>
}

/** The reason why an operator stays unchanged: the account, or the service, would be left without one. */
export type OperatorKept = 'last admin' | 'last platform operator'

/** The changes that operators and keys made. Append-only, but for details of erased devices. */
export interface Audit {
  /**
   * Removes what entries up to a time say of a device, such as name and labels, and takes it out of those on
   * several devices; who did what and when stays.
   */
  forgetAuditDetails(device: { accountId: string; deviceId: string; upTo: number }): Promise<void>
  /**
   * `lives`: of the devices that the details are about, as they were before the change. Of one that has been
   * erased since, nothing is stored.
   */
  appendAudit(entry: AuditEntry, lives?: ReadonlyMap<string, string | undefined>): Promise<void>
  /** Newest first. `from` inclusive, `to` exclusive. An entry on many devices is found by each of them. */
  pageAudit(query: AuditQuery): Promise<PageOfAudit>
}

/**
 * A page holds fewer than `limit` entries if those wanted are few among many, or name thousands of devices.
 * `next`: the `after` of the next page; absent on the last one.
 */
export type PageOfAudit = { readonly entries: readonly AuditEntry[]; readonly next?: string }

export type AuditQuery = {
  readonly accountId: string
  /** The operator who made the change. */
  readonly operatorId?: string | undefined
  readonly action?: string | undefined
  readonly subjectId?: string | undefined
  readonly from?: number | undefined
  readonly to?: number | undefined
  readonly limit: number
  readonly after?: string | undefined
}

export type AuditEntry = {
  /** A ULID with the entry's time. */
  readonly id: string
  /** The account of the changed object. */
  readonly accountId: string
  readonly at: number
  readonly actor: {
    readonly kind: 'operator' | 'key'
    readonly id: string
    /** The operator's e-mail or the key's name, as it was then. */
    readonly name: string
  }
  /** A fact in the past tense, `key.created`. */
  readonly action: string
  readonly subject: { readonly kind: AuditSubject; readonly id: string }
  /** The new values, field by field; never a secret. Of many devices also their ids, as `deviceIds`. */
  readonly details?: Readonly<Record<string, unknown>>
  /** The client's address. */
  readonly address: string
  readonly requestId: string
}

/** `devices`: many devices of the account with the subject's id. */
export const AUDIT_SUBJECTS = [
  'key',
  'device',
  'devices',
  'operator',
  'account',
  'session',
  'share',
] as const
/** The only action on many devices. */
export const DEVICES_LABELLED = 'devices.labelled'

export type AuditSubject = (typeof AUDIT_SUBJECTS)[number]

/** Data of the store that are kept for a limited time. */
export interface Outdated {
  /**
   * Removes ended sessions, shares a week after they expired, reports of instances that are gone, and refused
   * reports older than 7 days. The projector calls it every hour, because nothing else may ever come that would
   * replace them.
   */
  removeOutdated(now: number): Promise<void>
}

/** Running services: each service of each process, as it reports itself. */
export interface Instances {
  saveInstance(report: InstanceReport): Promise<void>
  /** Instances that reported since then; their reports are kept for an hour. */
  instances(query: { reportedSince: number }): Promise<InstanceReport[]>
  /** The last report of each minute from `since` on, of instances with figures; kept for a day. */
  instanceMinutes(query: { since: number }): Promise<InstanceMinute[]>
}

export type InstanceMinute = Pick<
  InstanceReport,
  'acceptedPerMinute' | 'refusedPerMinute' | 'lag' | 'deadLetters'
> & {
  /** The beginning of the minute. */
  readonly start: number
}
