import { invalidParams } from '../../runtime/errors.ts'
import { parseIso8601 } from '../../schemas/text/iso-8601.ts'
import { containsApiKey } from '../../schemas/access/keys-in-text.ts'
import {
  KEY_STATUSES,
  keyStatus,
  SCOPES,
  type ApiKey,
  type KeyChange,
  type Scope,
} from '../../store/keys.ts'
import { isOneLine, nameRule } from '../http/name-rule.ts'
import { optional, readOnly, required, rulesOf } from '../http/resource-fields.ts'
import { choice, list, parsedValue, text, wholeNumber, type InputOf } from '../http/rule.ts'
import { TIME } from '../http/views.ts'

const ONE_LINE = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$'

const scopesExpected = { expected: `scopes must be a list of one or more of ${SCOPES.join(', ')}` }

/** Parsed to milliseconds since the epoch. */
const expiresAt = parsedValue({
  parse(text, now) {
    const time = parseIso8601(text)
    return time !== undefined && time > now ? time : undefined
  },
  expected:
    'expiresAt must be an ISO 8601 date and time in the future, for example 2030-01-31T12:30:00Z',
  openapi: { type: 'string', format: 'date-time' },
})

const devicesExpected =
  'deviceIds must be a list of 1 to 1000 different deviceIds, or prefixes that end in *'
const deviceIds = list(
  text({
    max: 129,
    fits: (pattern) => isOneLine(pattern) && !containsApiKey(pattern),
    expected: devicesExpected,
    openapi: { type: 'string', minLength: 1, maxLength: 129, pattern: ONE_LINE },
  }),
  { max: 1000, expected: devicesExpected },
)

const rateLimit = wholeNumber({
  min: 1,
  max: 1_000_000_000,
  expected: 'rateLimit must be a whole number of positions per 60 s, 1 or more',
})

/** The schema of times that responses always have. */
const TIME_OR_NULL = { type: ['string', 'null'], format: 'date-time' }

export const KEY_FIELDS = {
  id: readOnly({ type: 'string' }),
  key: readOnly(
    { type: 'string', description: 'The secret, shown only in this response' },
    { isSecret: true },
  ),
  name: required(nameRule('name')),
  hint: readOnly({ type: 'string', description: 'The first and last characters of the secret' }),
  scopes: {
    shown: { type: 'array', items: { enum: SCOPES } },
    created: list(choice(SCOPES, scopesExpected), scopesExpected).nullIsAbsence(),
  },
  status: readOnly(
    { enum: KEY_STATUSES },
    { view: (key: ApiKey, _caller, now) => keyStatus(key, now) },
  ),
  createdAt: readOnly(TIME),
  expiresAt: optional(expiresAt, { shown: TIME_OR_NULL, isOptional: false }),
  lastUsedAt: readOnly(TIME_OR_NULL),
  revokedAt: readOnly(TIME_OR_NULL),
  previousValidUntil: readOnly({
    ...TIME_OR_NULL,
    description: 'After a rotation: when the previous secret stops working',
  }),
  refusedRequests: readOnly(
    {
      type: 'integer',
      minimum: 0,
      description: 'Reporting requests that used it after it was revoked, expired or replaced',
    },
    { view: ({ refusedRequests = 0 }: ApiKey) => refusedRequests },
  ),
  lastRefusedAt: readOnly({ ...TIME_OR_NULL, description: 'The latest of them' }),
  deviceIds: optional(deviceIds, {
    shown: { type: ['array', 'null'], items: { type: 'string' } },
    isOptional: false,
  }),
  rateLimit: optional(rateLimit, {
    shown: { type: ['integer', 'null'], description: 'Positions per 60 s' },
    isOptional: false,
  }),
}

export const NEW_KEY = rulesOf(KEY_FIELDS, 'created')
export type NewKey = InputOf<typeof NEW_KEY>

/** `key`: its secret, in the response that includes it. */
export type ShownKey = ApiKey & { readonly key?: string }

/**
 * A key with full access cannot be bound to devices.
 * @throws {ApiError} 400 naming `deviceIds`.
 */
export function refuseBoundAdmin(
  scopes: readonly Scope[] = [],
  { deviceIds }: Pick<KeyChange, 'deviceIds'>,
): void {
  if (!scopes.includes('admin') || (deviceIds ?? null) === null) return
  const message = 'deviceIds cannot be combined with the scope admin: leave one of the two out'
  throw invalidParams([{ field: 'deviceIds', message }])
}
