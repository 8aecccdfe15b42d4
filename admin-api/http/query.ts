import Joi from 'joi'
import { invalidParams, type Fault } from '../../runtime/errors.ts'
import { parseIso8601 } from '../../schemas/iso-8601.ts'
import type { AdminContext, Rules } from './admin-route.ts'

/**
 * Reads the query parameters of a call, each given at most once.
 * @throws {ApiError} 400 naming every parameter that is unknown, repeated or malformed.
 */
export function readQuery(ctx: AdminContext, parameters: Rules): object {
  const rules = new Map(Object.entries<Joi.Schema>(parameters))
  const faults: Fault[] = []
  const given = new Map<string, string>()
  for (const part of ctx.querystring.split('&').filter((text) => text !== '')) {
    const [encodedName = '', ...rest] = part.split('=')
    const name = decode(encodedName) ?? encodedName
    const value = decode(rest.join('='))
    if (!rules.has(name)) faults.push(unknownParameter(name, [...rules.keys()]))
    else if (given.has(name)) faults.push({ field: name, message: `${name} must be given once` })
    else if (value === undefined) {
      faults.push({ field: name, message: `${name} must be percent-encoded UTF-8` })
    } else given.set(name, value)
  }
  const values: [string, unknown][] = []
  for (const [name, rule] of rules) {
    const result = rule.validate(given.get(name), { convert: false })
    if (result.error !== undefined) faults.push({ field: name, message: result.error.message })
    else if (result.value !== undefined) values.push([name, result.value])
  }
  if (faults.length > 0) throw invalidParams(faults)
  return Object.fromEntries(values)
}

/** What every list takes. */
export type PageQuery = { readonly limit: number; readonly cursor?: string }

export const DEFAULT_LIMIT = 100

/** `limit` for calls that do something else without one. */
export const LIMIT_PARAMETER = Joi.string()
  .custom((text: string, helpers) => {
    const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0
    return limit >= 1 && limit <= 1000 ? limit : helpers.error('any.invalid')
  })
  .messages({ '*': 'limit must be a whole number from 1 to 1000' })
  .description('How many things a page holds at most')
  .meta({ openapi: { type: 'integer', minimum: 1, maximum: 1000 } })

export const PAGE_PARAMETERS = {
  limit: LIMIT_PARAMETER.default(DEFAULT_LIMIT),
  cursor: Joi.string()
    .max(2048)
    .messages({ '*': 'cursor must be the nextCursor of the page before' })
    .description('The `nextCursor` of the page before; the other parameters stay as they were'),
}

/** A time in milliseconds since the epoch. */
export function timeParameter(name: string): Joi.Schema {
  return Joi.string()
    .custom((text: string, helpers) => parseIso8601(text) ?? helpers.error('any.invalid'))
    .meta({ openapi: { type: 'string', format: 'date-time' } })
    .messages({
      '*': `${name} must be an ISO 8601 date and time, for example 2026-01-31T12:30:00Z (a + is written %2B)`,
    })
}

/** A text of up to this many UTF-16 code units. */
export function textParameter(name: string, longest: number): Joi.StringSchema {
  return Joi.string()
    .max(longest)
    .messages({ '*': `${name} must be a text of 1 to ${longest} characters` })
}

export function choiceParameter(name: string, choices: readonly string[]): Joi.Schema {
  return Joi.string()
    .valid(...choices)
    .messages({ '*': `${name} must be ${choices.join(' or ')}` })
}

function unknownParameter(name: string, known: readonly string[]): Fault {
  const takes = known.length === 0 ? 'takes no parameters' : `takes ${known.join(', ')}`
  const shown = name.slice(0, 64)
  return { field: shown, message: `${shown} is not a parameter of this call: it ${takes}` }
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}
