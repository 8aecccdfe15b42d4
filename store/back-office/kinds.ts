import type { InstanceReport } from '../../schemas/instance-report.ts'
import type { AuditEntry, InstanceMinute, Share } from '../back-office.ts'
import type { ApiKey } from '../keys.ts'
import type { Account, Operator, Session } from '../operators.ts'
import type { Kind } from '../documents.ts'

/** A hash as text, for documents and ids. Times are milliseconds since the epoch. */
export function hashText(hash: Uint8Array): string {
  return Buffer.from(hash).toString('hex')
}

export type AccountDocument = Account & {
  /**
   * The ids of its admins; only this list makes an operator an admin. Some may not exist, or not
   * yet.
   */
  readonly admins: readonly string[]
  /** How often the account was reinstated: sessions from before the last time are invalid. */
  readonly resumed?: number
}

export const ACCOUNTS: Kind<AccountDocument> = {
  name: 'accounts',
  indexes: { oldest: { fields: ['createdAt'] } },
}

export const SERVICE_ID = 'service'

/** The single document of the whole service. */
export type ServiceDocument = {
  readonly id: typeof SERVICE_ID
  /** The ids of the platform's operators, like an account's admins. */
  readonly platform: readonly string[]
}

export const SERVICE: Kind<ServiceDocument> = { name: 'service', indexes: {} }

export type OperatorDocument = Omit<Operator, 'role' | 'platform'> & {
  readonly emailLowerCase: string
  /** The role of an operator below admin. */
  readonly dispatcher?: true
  /** Set on the very first operator only: a unique index allows just one. */
  readonly first?: 1
}

export const OPERATORS: Kind<OperatorDocument> = {
  name: 'operators',
  indexes: {
    oldest: { fields: ['accountId', 'createdAt'] },
    email: { fields: ['emailLowerCase'], unique: true },
    first: { fields: ['first'], unique: true },
  },
}

/** The document's id is the token's hash. */
export type SessionDocument = Omit<Session, 'tokenHash'> & {
  readonly id: string
  /** The account's `resumed` when the session was created. */
  readonly resumed?: number
}

export const SESSIONS: Kind<SessionDocument> = {
  name: 'sessions',
  indexes: {
    operator: { fields: ['operatorId'] },
    begun: { fields: ['createdAt'] },
    seen: { fields: ['lastSeenAt'] },
  },
}

export type KeyDocument = ApiKey & {
  /** The hash of its secret, and after a rotation that of the previous one. */
  readonly secret: string
  readonly previousSecret?: string
}

export const KEYS: Kind<KeyDocument> = {
  name: 'keys',
  indexes: {
    oldest: { fields: ['accountId', 'createdAt'] },
    secret: { fields: ['secret'], unique: true },
    previous: { fields: ['previousSecret'] },
  },
}

/** `token`: the hash of its token. */
export type ShareDocument = Share & { readonly token: string }

export const SHARES: Kind<ShareDocument> = {
  name: 'shares',
  indexes: {
    oldest: { fields: ['accountId', 'createdAt'] },
    token: { fields: ['token'], unique: true },
    expires: { fields: ['expiresAt'] },
  },
}

/**
 * An erasure on its way to the log, to its projector, or through the back office; the document's id
 * is the eventId.
 */
export type AnnouncedErasure = {
  readonly id: string
  readonly accountId: string
  readonly deviceId: string
  /**
   * Set once the device is hidden: audit entries and rejected reports up to this time must no
   * longer name it.
   */
  readonly forgottenUpTo?: number
}

export const ANNOUNCED_ERASURES: Kind<AnnouncedErasure> = {
  name: 'announced_erasures',
  indexes: {
    device: { fields: ['accountId', 'deviceId'] },
    hidden: { fields: ['forgottenUpTo'] },
  },
}

export const AUDIT: Kind<AuditEntry> = {
  name: 'audit',
  indexes: {
    time: { fields: ['accountId', 'at'] },
    subject: { fields: ['accountId', 'subject.id', 'at'] },
    actor: { fields: ['accountId', 'actor.id', 'at'] },
    action: { fields: ['accountId', 'action', 'at'] },
  },
  // The details about a device are removed when the device is erased.
  appendOnlyBut: 'details',
}

export type RejectionDocument = {
  /** The rejectionId. */
  readonly id: string
  readonly accountId: string
  readonly keyId: string
  /** Absent if malformed: no device has such an id. */
  readonly deviceId?: string
  readonly receivedAt: number
  /** The event as JSON: rejected reports may hold text that a database would alter. */
  readonly event: string
}

export const REJECTION_KIND: Kind<RejectionDocument> = {
  name: 'rejections',
  indexes: {
    account: { fields: ['accountId'] },
    key: { fields: ['accountId', 'keyId'] },
    device: { fields: ['accountId', 'deviceId'] },
    received: { fields: ['receivedAt'] },
  },
}

/** The document's id is the instanceId. */
export type InstanceDocument = InstanceReport & { readonly id: string }

/** An instance's reports of an hour: its last figures in each minute. */
export type InstanceHourDocument = {
  readonly id: string
  /** The start of the hour. */
  readonly hour: number
  readonly minutes: Readonly<Record<number, Omit<InstanceMinute, 'start'>>>
}

export const INSTANCE_HOURS: Kind<InstanceHourDocument> = {
  name: 'instance_hours',
  indexes: { hour: { fields: ['hour'] } },
}

export const INSTANCES: Kind<InstanceDocument> = {
  name: 'instances',
  indexes: { reported: { fields: ['reportedAt'] } },
}

/** A spool as last reported; `id` is the spool's. */
export type SpoolDocument = {
  readonly id: string
  readonly events: number
  readonly reportedAt: number
}

export const SPOOLS: Kind<SpoolDocument> = {
  name: 'spools',
  indexes: { reported: { fields: ['reportedAt'] } },
}
