import type { InstanceReport } from '../../schemas/instance-report.ts'
import type { Account, ApiKey, AuditEntry, Operator, Session } from '../back-office.ts'
import type { Kind } from '../documents.ts'

/** A hash as it stands in documents, where it may be an id. Times are milliseconds since the epoch. */
export function hashText(hash: Uint8Array): string {
  return Buffer.from(hash).toString('hex')
}

export type AccountDocument = Account & {
  /** Ids of its admins: what makes an operator one. Each is added after the operator exists. */
  readonly admins: readonly string[]
  /** How many suspensions have been lifted: a session from before the last one is over. */
  readonly resumed?: number
}

export const ACCOUNTS: Kind<AccountDocument> = {
  name: 'accounts',
  indexes: { oldest: { fields: ['createdAt'] } },
}

/** Of the whole service there is one. */
export type ServiceDocument = {
  readonly id: 'service'
  /** Ids of the platform's operators, like the admins of an account. */
  readonly platform: readonly string[]
}

export const SERVICE: Kind<ServiceDocument> = { name: 'service', indexes: {} }

export type OperatorDocument = Omit<Operator, 'role' | 'platform'> & {
  readonly emailLowerCase: string
  /** Stands on the very first operator alone: a unique index lets only one have it. */
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

/** Its id is the hash of its token. */
export type SessionDocument = Omit<Session, 'tokenHash'> & {
  readonly id: string
  /** `resumed` of the account when it began. */
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
  /** The hash of its secret, and after a rotation of the one before. */
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

export const AUDIT: Kind<AuditEntry> = {
  name: 'audit',
  indexes: { account: { fields: ['accountId'] }, time: { fields: ['accountId', 'at'] } },
  appendOnly: true,
}

export type RejectionDocument = {
  /** The rejectionId. */
  readonly id: string
  readonly accountId: string
  readonly keyId: string
  /** Absent where it is not well-formed: no device is called so. */
  readonly deviceId?: string
  readonly receivedAt: number
  /** The event as JSON: what was refused may hold texts that a database would change. */
  readonly event: string
}

export const REJECTIONS: Kind<RejectionDocument> = {
  name: 'rejections',
  indexes: {
    account: { fields: ['accountId'] },
    key: { fields: ['accountId', 'keyId'] },
    device: { fields: ['accountId', 'deviceId'] },
    received: { fields: ['receivedAt'] },
  },
}

/** Its id is the instanceId. */
export type InstanceDocument = InstanceReport & { readonly id: string }

export const INSTANCES: Kind<InstanceDocument> = {
  name: 'instances',
  indexes: { reported: { fields: ['reportedAt'] } },
}
