import { fieldPath } from './field-path.ts'
import { containsApiKey } from '../access/keys-in-text.ts'
import { KNOWN_ATTRIBUTES } from './known-attributes.ts'
import type { Attributes, AttributeValue } from './report-fields.ts'
import { isJsonObject } from '../text/json-object.ts'

export type { Attributes }

type AttributeFault = { readonly field: string; readonly message: string }

const MOST = 32
const MOST_UNITS = 256
const MOST_BYTES = 2048

/** `__proto__` is not a name; `constructor` and `toString` are ordinary names. */
const NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/
/** Texts that need no further checks except for API keys. */
const PLAIN_TEXT = /^[\x20-\x7e]{0,256}$/
/** Maximum length of a number in JSON, with a comma. */
const NUMBER_BYTES = 26

/**
 * The attributes of a report, or of an event in the log, or all their faults. `null` and a name
 * whose value is `null` count as absent, and so does an object without names. `isLogged`: for an
 * event, which remains readable with an API key that an earlier version did not recognise.
 */
export function judgeAttributes(
  sent: unknown,
  { isLogged = false } = {},
): { readonly attributes?: Attributes } | { readonly faults: readonly AttributeFault[] } {
  const plain = plainAttributes(sent)
  if (plain !== undefined) return { attributes: plain }
  if (sent === undefined || sent === null) return {}
  if (typeof sent !== 'object' || Array.isArray(sent)) return fault('must be a JSON object')
  const present = Object.entries(sent).filter(([, value]) => value !== undefined && value !== null)
  if (present.length === 0) return {}
  if (present.length > MOST) return fault(`must have at most ${MOST} names`)
  const faults = present.flatMap(([name, value]) => faultOf(name, value, { isLogged }) ?? [])
  if (faults.length > 0) return { faults }
  const attributes = sortByName(present as [string, AttributeValue][])
  if (Buffer.byteLength(JSON.stringify(attributes)) <= MOST_BYTES) return { attributes }
  return fault(`must have at most ${MOST_BYTES} bytes as JSON`)
}

/** The attributes, if they are plainly valid; if undefined, `judgeAttributes` decides. */
export function plainAttributes(sent: unknown): Attributes | undefined {
  if (!isJsonObject(sent)) return undefined
  const values = sent
  const names: string[] = []
  let bytes = 0
  let last = ''
  let isInOrder = true
  for (const name of Object.keys(values)) {
    const value = values[name]
    if (value === undefined || value === null) continue
    if (!NAME.test(name) || containsApiKey(name)) return undefined
    if (names.push(name) > MOST) return undefined
    if (name < last) isInOrder = false
    last = name
    bytes += name.length + 4
    if (typeof value === 'string') {
      if (!PLAIN_TEXT.test(value) || containsApiKey(value)) return undefined
      bytes += 2 * value.length + 2
    } else if (typeof value === 'number') {
      if (!Number.isFinite(value)) return undefined
      bytes += NUMBER_BYTES
    } else if (typeof value !== 'boolean') return undefined
  }
  if (names.length === 0 || bytes > MOST_BYTES - NUMBER_BYTES) return undefined
  return pickNamed(isInOrder ? names : names.sort(), values as Attributes)
}

/**
 * The attributes from an app's data, without values that do not fit: `dropped` is the number of
 * values with bad names, too long, nested, beyond the first 32 or beyond 2 KiB. `null` is absent.
 */
export function keepFittingAttributes(sent: Readonly<Record<string, unknown>>): {
  readonly attributes?: Attributes
  readonly dropped: number
} {
  const plain = plainAttributes(sent)
  if (plain !== undefined) return { attributes: plain, dropped: 0 }
  const kept: [string, AttributeValue][] = []
  let bytes = 1
  let dropped = 0
  // Always include the alarm, even if other attributes already fill the limit.
  const { alarm, ...others } = sent
  for (const [name, value] of Object.entries({ alarm, ...others })) {
    if (value === undefined || value === null) continue
    const isFitting = kept.length < MOST && faultOf(name, value) === undefined
    const more = isFitting ? Buffer.byteLength(JSON.stringify({ [name]: value })) - 1 : Infinity
    if (bytes + more > MOST_BYTES) dropped += 1
    else {
      kept.push([name, value as AttributeValue])
      bytes += more
    }
  }
  return kept.length === 0 ? { dropped } : { attributes: sortByName(kept), dropped }
}

function sortByName(entries: readonly (readonly [string, AttributeValue])[]): Attributes {
  const values = Object.fromEntries(entries)
  return pickNamed(Object.keys(values).sort(), values)
}

/** In the order of these names; a negative zero becomes 0. */
function pickNamed(names: readonly string[], values: Attributes): Attributes {
  const attributes: Record<string, AttributeValue> = {}
  for (const name of names) {
    const value = values[name]!
    attributes[name] = value === 0 ? 0 : value
  }
  return attributes
}

function fault(message: string): { readonly faults: readonly AttributeFault[] } {
  return { faults: [{ field: 'attributes', message: `attributes ${message}` }] }
}

function faultOf(
  name: string,
  value: unknown,
  { isLogged = false } = {},
): AttributeFault | undefined {
  const holdsKey = isLogged ? () => false : containsApiKey
  const message = nameFault(name, holdsKey) ?? valueFault(value, holdsKey)
  if (message === undefined) return undefined
  const field = fieldPath(['attributes', name])
  return { field, message: `${field} ${message}` }
}

function nameFault(name: string, holdsKey: (text: string) => boolean): string | undefined {
  if (NAME.test(name) && !holdsKey(name)) return undefined
  return 'must have a name of at most 64 letters, digits, _, . and -, a letter first, and no API key'
}

function valueFault(value: unknown, holdsKey: (text: string) => boolean): string | undefined {
  if (typeof value === 'boolean') return undefined
  if (typeof value === 'number') {
    return Number.isFinite(value) ? undefined : 'must be within the range of a double'
  }
  if (typeof value !== 'string') return 'must be a number, true, false or a text'
  if (value.length > MOST_UNITS) return `must have at most ${MOST_UNITS} characters`
  if (/\p{Cc}/u.test(value)) return 'must not contain control characters'
  if (!value.isWellFormed()) return 'must be well-formed Unicode, without lone surrogates'
  if (!holdsKey(value)) return undefined
  return 'must not be or contain an API key: send that in the header Authorization only'
}

/** The attributes' JSON Schema. */
export const ATTRIBUTES_SCHEMA = {
  type: 'object',
  maxProperties: MOST,
  propertyNames: { pattern: NAME.source },
  additionalProperties: {
    type: ['string', 'number', 'boolean'],
    maxLength: MOST_UNITS,
    pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
  },
  description: `Other data of the device, at most ${MOST_BYTES} bytes of JSON. Names with a meaning: ${listKnownNames()}`,
} as const

function listKnownNames(): string {
  return Object.entries(KNOWN_ATTRIBUTES)
    .map(([name, { unit }]) => (unit === undefined ? name : `${name} (${unit})`))
    .join(', ')
}
