import Joi from 'joi'
import { invalidParams } from '../../runtime/errors.ts'
import { isApiKey } from '../../schemas/api-key.ts'
import { parseIso8601 } from '../../schemas/iso-8601.ts'
import { SCOPES, type Scope } from '../../store/back-office.ts'
import { nameRule } from '../http/rules.ts'

export type NewKey = {
  readonly name: string
  readonly scopes?: readonly Scope[]
  readonly expiresAt?: number
  readonly deviceIds?: readonly string[]
  readonly rateLimit?: number
}

/** `null` clears a value; absent fields stay unchanged. */
export type KeyChange = {
  readonly name?: string
  readonly expiresAt?: number | null
  readonly deviceIds?: readonly string[] | null
  readonly rateLimit?: number | null
}

const ONE_LINE = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$'

const name = nameRule('name')

const scopes = Joi.array()
  .items(Joi.string().valid(...SCOPES))
  .min(1)
  .unique()
  .messages({ '*': `scopes must be a list of one or more of ${SCOPES.join(', ')}` })

/** Becomes milliseconds since the epoch. */
const expiresAt = Joi.string()
  .custom((text: string, helpers) => {
    const time = parseIso8601(text)
    const { now } = helpers.prefs.context as { now: number }
    return time !== undefined && time > now ? time : helpers.error('any.invalid')
  })
  .meta({ openapi: { type: 'string', format: 'date-time' } })
  .messages({
    '*': 'expiresAt must be an ISO 8601 date and time in the future, for example 2030-01-31T12:30:00Z',
  })

const deviceIds = Joi.array()
  .items(
    Joi.string()
      .max(129)
      .custom(devicePattern)
      .meta({ openapi: { type: 'string', minLength: 1, maxLength: 129, pattern: ONE_LINE } }),
  )
  .min(1)
  .max(1000)
  .unique()
  .messages({
    '*': 'deviceIds must be a list of 1 to 1000 different deviceIds, or beginnings of such that end in *',
  })

const rateLimit = Joi.number()
  .integer()
  .min(1)
  .max(1_000_000_000)
  .messages({ '*': 'rateLimit must be a whole number of positions per 60 s, 1 or more' })

export const NEW_KEY = {
  name: name.required(),
  scopes: scopes.empty(null),
  expiresAt: expiresAt.empty(null),
  deviceIds: deviceIds.empty(null),
  rateLimit: rateLimit.empty(null),
}

/** Scopes cannot be changed: other scopes need a new key. */
export const KEY_CHANGES = {
  name,
  expiresAt: expiresAt.allow(null),
  deviceIds: deviceIds.allow(null),
  rateLimit: rateLimit.allow(null),
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

function devicePattern(text: string, helpers: Joi.CustomHelpers): string | Joi.ErrorReport {
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  const bad = /[\u0000-\u001f\u007f-\u009f]/.test(text) || !text.isWellFormed()
  return bad || isApiKey(text) ? helpers.error('any.invalid') : text
}
