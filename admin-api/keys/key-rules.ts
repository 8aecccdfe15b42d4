import { invalidParams } from '../../runtime/errors.ts'
import { parseIso8601 } from '../../schemas/text/iso-8601.ts'
import { containsApiKey } from '../../schemas/access/keys-in-text.ts'
import { SCOPES, type KeyChange, type Scope } from '../../store/keys.ts'
import { isOneLine, nameRule } from '../http/name-rule.ts'
import { choice, list, parsed, text, wholeNumber, type InputOf } from '../http/rule.ts'

const ONE_LINE = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$'

const name = nameRule('name')

const scopesExpected = { expected: `scopes must be a list of one or more of ${SCOPES.join(', ')}` }
const scopes = list(choice(SCOPES, scopesExpected), scopesExpected)

/** Parsed to milliseconds since the epoch. */
const expiresAt = parsed({
  parse(text, now) {
    const time = parseIso8601(text)
    return time !== undefined && time > now ? time : undefined
  },
  expected:
    'expiresAt must be an ISO 8601 date and time in the future, for example 2030-01-31T12:30:00Z',
  openapi: { type: 'string', format: 'date-time' },
})

const devicesExpected =
  'deviceIds must be a list of 1 to 1000 different deviceIds, or beginnings of such that end in *'
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

export const NEW_KEY = {
  name: name.required(),
  scopes: scopes.nullIsAbsence(),
  expiresAt: expiresAt.nullIsAbsence(),
  deviceIds: deviceIds.nullIsAbsence(),
  rateLimit: rateLimit.nullIsAbsence(),
}

export type NewKey = InputOf<typeof NEW_KEY>

/** The rules of a `KeyChange`. */
export const KEY_CHANGES = {
  name,
  expiresAt: expiresAt.orNull(),
  deviceIds: deviceIds.orNull(),
  rateLimit: rateLimit.orNull(),
}

/**
 * A key with full access cannot be bound to devices.
 * @throws {ApiError} 400 naming `deviceIds`.
 */
export function refuseBoundAdmin(
  scopes: readonly Scope[] = [],
  { deviceIds }: Pick<KeyChange, 'deviceIds'>,
): void {
  if (!scopes.includes('admin') || (deviceIds ?? null) === null) return
  const message = 'deviceIds does not go with the scope admin: leave one of the two out'
  throw invalidParams([{ field: 'deviceIds', message }])
}
