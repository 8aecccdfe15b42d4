import type { InstanceReport } from '../schemas/instance-report.ts'
import type { ReportRejected } from '../schemas/report-rejected.ts'

// The part of the store's port that operators fill and read; nothing of it is made from the log.

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
  /** The devices that exist for it: exact ids, or prefixes that end in `*`. Absent: all. */
  readonly deviceIds?: readonly string[]
  /** Positions per 60 s; absent: the service's own limit. */
  readonly rateLimit?: number
  /** After a rotation: until when the secret before this one opens it too. May have passed. */
  readonly previousValidUntil?: number
}

/** All that a service decides by when a secret is shown to it. */
export type KeyGrant = {
  readonly key: ApiKey
  /** Until when the secret that was shown opens the key; absent: for as long as the key is good. */
  readonly secretValidUntil?: number
  readonly accountSuspended: boolean
  /** Ids of the account's disabled devices. */
  readonly disabledDevices: ReadonlySet<string>
}

export const KEY_STATUSES = ['active', 'expired', 'revoked', 'rotating'] as const
export type KeyStatus = (typeof KEY_STATUSES)[number]

/** Any status but `expired` and `revoked` lets the key in. */
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

/** Whether the secret that was shown opens its key at this time; the account is not asked. */
export function isInForce({ key, secretValidUntil }: KeyGrant, now: number): boolean {
  const status = keyStatus(key, now)
  return status !== 'revoked' && status !== 'expired' && !isOver(secretValidUntil, now)
}

function isOver(end: number | undefined, now: number): boolean {
  return end !== undefined && now >= end
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
  /** `null` takes a value away; what is not named stays. */
  changeKey(change: {
    readonly accountId: string
    readonly keyId: string
    readonly name?: string
    readonly expiresAt?: number | null
    readonly deviceIds?: readonly string[] | null
    readonly rateLimit?: number | null
  }): Promise<ApiKey | undefined>
  /**
   * Gives the key a new secret. The one until now opens it until `previousValidUntil`, one from
   * before that no longer. Of rotations at once each new secret is the last one for a moment.
   * 'revoked' leaves a revoked key as it is.
   */
  rotateKey(query: {
    readonly accountId: string
    readonly keyId: string
    readonly secretHash: Uint8Array
    readonly hint: string
    readonly previousValidUntil: number
  }): Promise<ApiKey | 'revoked' | undefined>
  /**
   * Expired and revoked keys are found too, and secrets whose time is over: the caller decides.
   */
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

  /** False where the e-mail is taken, case ignored, anywhere in the service. */
  createOperator(operator: Operator): Promise<boolean>
  findOperator(query: { accountId: string; operatorId: string }): Promise<Operator | undefined>
  findOperatorByEmail(email: string): Promise<Operator | undefined>
  /** Oldest first. `after` is the id of the last operator seen. */
  pageOperators(query: { accountId: string; limit: number; after?: string }): Promise<Operator[]>
  /** Each account and the platform keep an admin, also under concurrent changes and removals. */
  changeOperator(change: {
    readonly accountId: string
    readonly operatorId: string
    readonly role?: Role
    readonly platform?: boolean
    readonly passwordHash?: string
  }): Promise<Operator | OperatorKept | undefined>
  /** The operator's sessions end with it. */
  deleteOperator(query: {
    accountId: string
    operatorId: string
  }): Promise<'deleted' | OperatorKept | undefined>

  /** With its first admin, where one is given: both or, where the e-mail is taken (false), neither. */
  createAccount(account: Account, admin?: Operator): Promise<boolean>
  findAccount(accountId: string): Promise<Account | undefined>
  /** Oldest first. `after` is the id of the last account seen. */
  pageAccounts(query: { limit: number; after?: string }): Promise<Account[]>
  /** A suspended account's keys and operators are refused; its data stay. */
  suspendAccount(query: { accountId: string; suspended: boolean }): Promise<Account | undefined>

  /** Of an operator that there is no longer, none is made. */
  createSession(session: Session): Promise<void>
  findSession(
    tokenHash: Uint8Array,
  ): Promise<{ session: Session; operator: Operator; account: Account } | undefined>
  touchSession(query: { tokenHash: Uint8Array; lastSeenAt: number }): Promise<void>
  deleteSession(tokenHash: Uint8Array): Promise<void>
  /** Ends the sessions of an operator, all or all but one. */
  endSessions(query: { operatorId: string; except?: Uint8Array }): Promise<void>
  /** Housekeeping: sessions begun before `createdBefore` or idle since `seenBefore` go. */
  deleteSessions(query: { createdBefore: number; seenBefore: number }): Promise<void>
}

/** Why an operator stays as it is: the account, or the service, would be left without such a one. */
export type OperatorKept = 'last admin' | 'last platform operator'

/** Who did what to what. Entries are only ever added. */
export interface Audit {
  appendAudit(entry: AuditEntry): Promise<void>
  /** Newest first. `after` is the id of the last entry seen. */
  pageAudit(query: { accountId: string; limit: number; after?: string }): Promise<AuditEntry[]>
}

export type AuditEntry = {
  /** ULID of the moment. */
  readonly id: string
  /** The account it happened in: the one of the thing that was changed. */
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
  /** What was set, field by field; never a secret. */
  readonly details?: Readonly<Record<string, unknown>>
  /** The client's address. */
  readonly address: string
  readonly requestId: string
}

export const AUDIT_SUBJECTS = ['key', 'device', 'operator', 'account', 'session'] as const
export type AuditSubject = (typeof AUDIT_SUBJECTS)[number]

/** Refused reports, the latest of each account: for 7 days, 10 000 at most. */
export interface Rejections {
  /** A repeat of a stored rejectionId changes nothing. What is too old or too many goes. */
  saveRejections(events: readonly ReportRejected[]): Promise<void>
  /** Newest first. `after` is the rejectionId of the last one seen. */
  pageRejections(query: {
    readonly accountId: string
    readonly keyId?: string
    readonly deviceId?: string
    readonly limit: number
    readonly after?: string
  }): Promise<ReportRejected[]>
}

/** What runs: each service of each process, as it says itself. */
export interface Instances {
  saveInstance(report: InstanceReport): Promise<void>
  /** Those that reported since. Reports of longer ago than an hour go. */
  instances(query: { reportedSince: number }): Promise<InstanceReport[]>
}
