import { isUtf8 } from 'node:buffer'
import { judgeAttributes } from '../report/attributes.ts'
import { parseIso8601 } from '../text/iso-8601.ts'
import type { Attributes } from '../report/report-fields.ts'
import { isJsonObject } from '../text/json-object.ts'

/** Thrown for an invalid log entry, or an invalid event to append. */
export class UndecodableEventError extends Error {
  override readonly name = 'UndecodableEventError'
}

const LONGEST_IDENTIFIER = 128
/** The last millisecond of the year 9999, the latest in ISO 8601. */
const LATEST = Date.UTC(10_000, 0, 1) - 1
/** The form of nearly all identifiers, which is quick to check. */
const USUAL_IDENTIFIER = /^[\x20-\x7e]{1,128}$/
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/

/** @throws {UndecodableEventError} if there are no bytes, or they are not UTF-8. */
export function utf8(bytes: Uint8Array | null, what: string): string {
  if (bytes === null) throw new UndecodableEventError(`there is no ${what}`)
  // Decoding invalid bytes could turn one device's id into another's.
  if (!isUtf8(bytes)) throw new UndecodableEventError(`the ${what} is not UTF-8`)
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
}

/** @throws {UndecodableEventError} if the text is not a JSON object. */
export function jsonObject(json: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    throw new UndecodableEventError('the value is not JSON')
  }
  if (!isJsonObject(value)) {
    throw new UndecodableEventError('the value is not a JSON object')
  }
  return value
}

// Each takes a field's value, and throws an `UndecodableEventError` that names the field.

export function textField(value: unknown, name: string): string {
  if (typeof value !== 'string' || value === '') {
    throw new UndecodableEventError(`${name} is not a text`)
  }
  return value
}

/**
 * Requires a text that every store preserves unchanged: UTF-8 cannot encode lone surrogates, some
 * stores end a text at a control character, and keys are limited in length.
 */
export function identifier(field: unknown, name: string): string {
  const value = textField(field, name)
  if (USUAL_IDENTIFIER.test(value)) return value
  if (value.length > LONGEST_IDENTIFIER) {
    throw new UndecodableEventError(`${name} has more than ${LONGEST_IDENTIFIER} characters`)
  }
  if (!value.isWellFormed()) throw new UndecodableEventError(`${name} has a lone surrogate`)
  if (/\p{Cc}/u.test(value)) throw new UndecodableEventError(`${name} has a control character`)
  return value
}

/** Keys are `accountId/deviceId`, so an account id contains no slash. */
export function accountIdOf(field: unknown): string {
  const accountId = identifier(field, 'accountId')
  if (accountId.includes('/')) throw new UndecodableEventError('accountId contains a slash')
  return accountId
}

export function ulidField(value: unknown, name: string): string {
  if (typeof value !== 'string' || !ULID.test(value)) {
    throw new UndecodableEventError(`${name} is not a ULID`)
  }
  return value
}

export function numberField(value: unknown, name: string, min = -Infinity, max = Infinity): number {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < min || value > max) {
    throw new UndecodableEventError(`${name} is not a number in its range`)
  }
  return value
}

/** Whole milliseconds since the epoch, up to the year 9999. */
export function milliseconds(field: unknown, name: string): number {
  const value = numberField(field, name, 0, LATEST)
  if (!Number.isInteger(value)) throw new UndecodableEventError(`${name} is not in milliseconds`)
  return value
}

/** An ISO 8601 time, as milliseconds. */
export function timeField(value: unknown, name: string): number {
  const found = typeof value === 'string' ? parseIso8601(value) : undefined
  if (found === undefined) {
    throw new UndecodableEventError(`${name} is not an ISO 8601 time`)
  }
  return found
}

/** Undefined if the value has no attributes. */
export function parseAttributes(value: unknown): Attributes | undefined {
  if (value === undefined || value === null) return undefined
  const judged = judgeAttributes(value, { isLogged: true })
  if ('faults' in judged) throw new UndecodableEventError(judged.faults[0]?.message)
  return judged.attributes
}

export function requireOneOf<Known extends string>(
  value: unknown,
  name: string,
  known: readonly Known[],
): Known {
  if (!(known as readonly unknown[]).includes(value)) {
    throw new UndecodableEventError(`${name} must be one of ${known.join(', ')}`)
  }
  return value as Known
}
