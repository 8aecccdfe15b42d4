import { containsApiKey } from '../access/keys-in-text.ts'

const MOST_UNITS = 128

/** Valid device ids that need no further checks. */
const PLAIN = /^[\w:-][\w:.-]{0,127}$/

const FAULTS = {
  empty: 'deviceId must have 1 to 128 characters',
  length: 'deviceId must have 1 to 128 characters',
  control: 'deviceId must not contain control characters',
  surrogate: 'deviceId must be well-formed Unicode, without lone surrogates',
  space: 'deviceId must not start or end with white space',
  dots: 'deviceId must not be "." or ".."',
  key: 'deviceId must not be or contain an API key: send that in the header Authorization only',
} as const

/** The fault of a device id; undefined if it is valid. */
export function deviceIdFault(text: string): string | undefined {
  return isPlainDeviceId(text) ? undefined : faultOf(text)
}

/** Whether a device id is plainly valid; if false, it may still be valid. */
export function isPlainDeviceId(text: string): boolean {
  return PLAIN.test(text) && !containsApiKey(text)
}

/**
 * Whether a key's list covers a device. Entries are exact ids, or prefixes that end in `*`. No list
 * covers every device.
 */
export function isListed(list: readonly string[] | undefined, deviceId: string): boolean {
  return (
    list === undefined ||
    list.some((listed) =>
      listed.endsWith('*') ? deviceId.startsWith(listed.slice(0, -1)) : listed === deviceId,
    )
  )
}

function faultOf(text: string): string | undefined {
  if (text === '') return FAULTS.empty
  if (text.length > MOST_UNITS) return FAULTS.length
  if (/\p{Cc}/u.test(text)) return FAULTS.control
  if (!text.isWellFormed()) return FAULTS.surrogate
  if (text.trim() !== text) return FAULTS.space
  if (text === '.' || text === '..') return FAULTS.dots
  // Probably the user mixed up two fields, perhaps one of several that form the id: the secret
  // would be stored and visible to all operators.
  return containsApiKey(text) ? FAULTS.key : undefined
}
