import { invalidParams, type Fault } from '../../runtime/errors.ts'
import { isTimeZone } from '../../schemas/geo/local-time.ts'
import { parseIso8601 } from '../../schemas/text/iso-8601.ts'
import { fieldPath } from '../../schemas/report/field-path.ts'
import type { AdminContext } from './admin-route.ts'
import { inputOf, parsedValue, text, type InputOf, type Rules } from './rule.ts'

/**
 * Reads the query parameters of a call; each except lists may appear only once.
 *
 * @throws {ApiError} 400 naming every parameter that is unknown, repeated or malformed.
 */
export function readQuery<Parameters extends Rules>(
  ctx: AdminContext,
  parameters: Parameters,
  { now }: { readonly now: number },
): InputOf<Parameters> {
  const names = Object.keys(parameters)
  const faults: Fault[] = []
  const values = new Map<string, string | string[]>()
  for (const part of ctx.querystring.split('&').filter((text) => text !== '')) {
    const [encodedName = '', ...rest] = part.split('=')
    const name = decode(encodedName) ?? encodedName
    const value = decode(rest.join('='))
    const before = values.get(name)
    if (!names.includes(name)) faults.push(unknownParameter(name, names))
    else if (typeof before === 'string')
      faults.push({ field: name, message: `${name} may appear only once` })
    else if (value === undefined) {
      faults.push({ field: name, message: `${name} must be percent-encoded UTF-8` })
    } else if (parameters[name]?.schema.type === 'array')
      values.set(name, [...(before ?? []), value])
    else values.set(name, value)
  }
  return inputOf(parameters, { read: (name) => values.get(name), now, faults })
}

export const DEFAULT_LIMIT = 100

/** A whole number without a sign. */
export function countParameter(name: string, { min, max }: { min: number; max: number }) {
  return parsedValue({
    parse(text) {
      const count = /^\d{1,9}$/.test(text) ? Number(text) : -1
      return count >= min && count <= max ? count : undefined
    },
    expected: `${name} must be a whole number from ${min} to ${max}`,
    openapi: { type: 'integer', minimum: min, maximum: max },
  })
}

export function limitParameter(max: number) {
  return countParameter('limit', { min: 1, max }).described('The maximum number of items in a page')
}

/** `limit` for a call that behaves differently without it. */
export const LIMIT_PARAMETER = limitParameter(1000)

/** The parameters of every list. */
export const PAGE_PARAMETERS = {
  limit: LIMIT_PARAMETER.withDefault(DEFAULT_LIMIT),
  cursor: text({
    max: 2048,
    expected: 'cursor must be the nextCursor of the previous page',
  }).described('The `nextCursor` of the previous page; all other parameters must be the same'),
}

export type PageQuery = InputOf<typeof PAGE_PARAMETERS>

/** A time, parsed to milliseconds since the epoch. */
export function timeParameter(name: string) {
  return parsedValue({
    parse: parseIso8601,
    expected: `${name} must be an ISO 8601 date and time, for example 2026-01-31T12:30:00Z (a + is written %2B)`,
    openapi: { type: 'string', format: 'date-time' },
  })
}

/** `from` and `to`; `what`: the time that the range applies to, in Markdown. */
export function rangeParameters(time: string) {
  return {
    from: timeParameter('from').described(`The earliest ${time}`),
    to: timeParameter('to').described(`The ${time} before which it ends`),
  }
}

/** A time zone's name. */
export function zoneParameter(name: string) {
  return text({
    max: 64,
    fits: isTimeZone,
    expected: `${name} must be a time zone of the IANA database, for example Europe/Berlin`,
  })
}

type Range = { readonly from?: number; readonly to?: number }

/** @throws {ApiError} 400 for a range that ends before it starts. */
export function requireRange({ from, to }: Range): void {
  if (from === undefined || to === undefined || from <= to) return
  throw invalidParams([{ field: 'from', message: 'from must not be after to' }])
}

/** Maximum number of days between `from` and `to` for a call that reads all records in between. */
export const MOST_DAYS = 400
const DAY_MS = 24 * 60 * 60 * 1_000
export const LONGEST_RANGE_MS = MOST_DAYS * DAY_MS

/** @throws {ApiError} 400 for a range too long to be read as a whole. */
export function requireShortRange({ from, to }: Required<Range>, days = MOST_DAYS): void {
  requireRange({ from, to })
  if (to - from <= days * DAY_MS) return
  const message = `from and to must be at most ${days} days apart`
  throw invalidParams([{ field: 'from', message }])
}

/** A text of up to this many UTF-16 code units. */
export function textParameter(name: string, longest: number) {
  return text({ max: longest, expected: `${name} must be a text of 1 to ${longest} characters` })
}

function unknownParameter(name: string, known: readonly string[]): Fault {
  const takes = known.length === 0 ? 'takes no parameters' : `takes ${known.join(', ')}`
  const field = fieldPath([name])
  return { field, message: `${field} is not a parameter of this call: it ${takes}` }
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}
