import {
  KEY_STATUSES,
  keyStatus,
  SCOPES,
  type ApiKey,
  type KeyChange,
  type Scope,
} from '../../store/keys.ts'
import { objectOf } from '../../runtime/openapi/json-schema.ts'
import { ApiError } from '../../runtime/errors.ts'
import type { JsonSchema } from '../http/admin-route.ts'
import { isoTime, TIME } from '../http/views.ts'

/** A key as operators see it, without the secret. */
export function keyView(key: ApiKey, now: number) {
  const time = (ms: number | undefined) => (ms === undefined ? null : isoTime(ms))
  return {
    id: key.id,
    name: key.name,
    hint: key.hint,
    scopes: key.scopes,
    status: keyStatus(key, now),
    createdAt: isoTime(key.createdAt),
    expiresAt: time(key.expiresAt),
    lastUsedAt: time(key.lastUsedAt),
    revokedAt: time(key.revokedAt),
    previousValidUntil: time(key.previousValidUntil),
    refusedRequests: key.refusedRequests ?? 0,
    lastRefusedAt: time(key.lastRefusedAt),
    deviceIds: key.deviceIds ?? null,
    rateLimit: key.rateLimit ?? null,
  }
}

/** The view including the secret, for the only answer that shows it. */
export function keyViewWithSecret(key: ApiKey, secret: string, now: number) {
  const { id, ...view } = keyView(key, now)
  return { id, key: secret, ...view }
}

/** A key's fields as the audit stores them, with times in the API's format. */
export function keyDetails({
  expiresAt,
  ...rest
}: KeyChange & { readonly scopes?: readonly Scope[] }): Readonly<Record<string, unknown>> {
  return {
    ...rest,
    ...(expiresAt !== undefined && { expiresAt: expiresAt === null ? null : isoTime(expiresAt) }),
  }
}

const TIME_OR_NULL: JsonSchema = { type: ['string', 'null'], format: 'date-time' }

const PROPERTIES = {
  id: { type: 'string' },
  name: { type: 'string' },
  hint: { type: 'string', description: 'First and last characters of the secret' },
  scopes: { type: 'array', items: { enum: SCOPES } },
  status: { enum: KEY_STATUSES },
  createdAt: TIME,
  expiresAt: TIME_OR_NULL,
  lastUsedAt: TIME_OR_NULL,
  revokedAt: TIME_OR_NULL,
  previousValidUntil: {
    ...TIME_OR_NULL,
    description: 'After a rotation: when the previous secret stops working',
  },
  refusedRequests: {
    type: 'integer',
    minimum: 0,
    description: 'Reporting requests with it after it was revoked, had expired or was replaced',
  },
  lastRefusedAt: { ...TIME_OR_NULL, description: 'The latest of them' },
  deviceIds: { type: ['array', 'null'], items: { type: 'string' } },
  rateLimit: { type: ['integer', 'null'], description: 'Positions per 60 s' },
}

export const KEY: JsonSchema = objectOf(PROPERTIES, { title: 'Key' })

export const KEY_WITH_SECRET: JsonSchema = objectOf(
  {
    ...PROPERTIES,
    key: { type: 'string', description: 'The secret, shown only in this answer' },
  },
  { title: 'KeyWithSecret' },
)

/** @throws {ApiError} 404 if the account has no such key. */
export function requireKey(key: ApiKey | undefined): ApiKey {
  if (key === undefined) throw new ApiError('NOT_FOUND', 'there is no key with this id')
  return key
}
