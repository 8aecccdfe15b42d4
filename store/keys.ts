import type { DefinitionsPage } from './back-office.ts'

// The API keys: the part of the store's port that decides who may report and read.

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
  /** First and last characters of the secret, so that people can distinguish keys. */
  readonly hint: string
  readonly scopes: readonly Scope[]
  readonly createdAt: number
  readonly expiresAt?: number
  readonly revokedAt?: number
  readonly lastUsedAt?: number
  /** Requests refused because the key, or the secret sent, was no longer valid. */
  readonly refusedRequests?: number
  readonly lastRefusedAt?: number
  /** The devices that the key may see: exact ids, or prefixes ending in `*`; by default all. */
  readonly deviceIds?: readonly string[]
  /** Positions per 60 s; by default the service's limit. */
  readonly rateLimit?: number
  /** After a rotation: the end of the previous secret's validity. May have passed. */
  readonly previousValidUntil?: number
}

/**
 * A change of a key: `null` removes a value, absent fields remain unchanged. Scopes cannot change:
 * that requires another key.
 */
export type KeyChange = {
  readonly name?: string
  readonly expiresAt?: number | null
  readonly deviceIds?: readonly string[] | null
  readonly rateLimit?: number | null
}

/** Everything that decides whether a secret is accepted. */
export type KeyGrant = {
  readonly key: ApiKey
  /** The end of the presented secret's validity; by default that of the key. */
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

/** Requests refused because the key, or the secret sent, was no longer valid. */
export type KeyRefusals = { readonly count: number; readonly lastAt: number }

export interface Keys {
  /** `secretHash`: SHA-256 of the secret; the secret itself never reaches the store. */
  createKey(key: ApiKey, secretHash: Uint8Array): Promise<void>
  /** Newest first. */
  pageKeys(query: DefinitionsPage): Promise<ApiKey[]>
  findKey(query: { accountId: string; keyId: string }): Promise<ApiKey | undefined>
  /** Returns the revoked key; an earlier revocation remains unchanged. */
  revokeKey(query: {
    accountId: string
    keyId: string
    revokedAt: number
  }): Promise<ApiKey | undefined>
  changeKey(
    key: { readonly accountId: string; readonly keyId: string } & KeyChange,
  ): Promise<ApiKey | undefined>
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
  /** Also finds expired and revoked keys, and outdated secrets; the caller must check. */
  findGrant(secretHash: Uint8Array): Promise<KeyGrant | undefined>
  /** Advances `lastUsedAt`, never moves it back. */
  touchKeys(usedAt: ReadonlyMap<string, number>): Promise<void>
  /** Adds to `refusedRequests`, and advances `lastRefusedAt`. */
  countRefusals(refusals: ReadonlyMap<string, KeyRefusals>): Promise<void>
}
