import { isUtf8 } from 'node:buffer'
import { parseIso8601 } from './iso-8601.ts'

/** What stands in the log, or is to stand there, is no event that a reader could take. */
export class UndecodableEventError extends Error {
  override readonly name = 'UndecodableEventError'
}

const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/

/** @throws {UndecodableEventError} when there are no bytes, or they are no text. */
export function utf8(bytes: Uint8Array | null, what: string): string {
  if (bytes === null) throw new UndecodableEventError(`there is no ${what}`)
  // Decoded first, foreign bytes would turn one device's id into another's.
  if (!isUtf8(bytes)) throw new UndecodableEventError(`the ${what} is not UTF-8`)
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
}

/** @throws {UndecodableEventError} when the text is not a JSON object. */
export function jsonObject(json: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    throw new UndecodableEventError('the value is not JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new UndecodableEventError('the value is not a JSON object')
  }
  return value as Record<string, unknown>
}

// Each takes one field by its name and throws an `UndecodableEventError` that names it.

export function text(fields: Record<string, unknown>, name: string): string {
  const value = fields[name]
  if (typeof value !== 'string' || value === '') {
    throw new UndecodableEventError(`${name} is not a text`)
  }
  return value
}

export function ulid(fields: Record<string, unknown>, name: string): string {
  const value = fields[name]
  if (typeof value !== 'string' || !ULID.test(value)) {
    throw new UndecodableEventError(`${name} is not a ULID`)
  }
  return value
}

export function number(
  fields: Record<string, unknown>,
  name: string,
  min = -Infinity,
  max = Infinity,
): number {
  const value = fields[name]
  if (typeof value !== 'number' || !Number.isFinite(value) || value < min || value > max) {
    throw new UndecodableEventError(`${name} is not a number in its range`)
  }
  return value
}

/** A time as JSON has it, in milliseconds. */
export function time(fields: Record<string, unknown>, name: string): number {
  const value = fields[name]
  const milliseconds = typeof value === 'string' ? parseIso8601(value) : undefined
  if (milliseconds === undefined) {
    throw new UndecodableEventError(`${name} is not an ISO 8601 time`)
  }
  return milliseconds
}

export function oneOf<Known extends string>(
  fields: Record<string, unknown>,
  name: string,
  known: readonly Known[],
): Known {
  const value = known.find((one) => one === fields[name])
  if (value === undefined) {
    throw new UndecodableEventError(`${name} is none of ${known.join(', ')}`)
  }
  return value
}
