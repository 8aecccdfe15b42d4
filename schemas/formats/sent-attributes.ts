import { parseNumber, convertUnit } from './values.ts'

/** The data that an app sends in addition to position and measurements, by our attribute names. */
export type SentAttributes = Readonly<Record<string, unknown>>

/** Names of networks, and secrets of the app: they are never stored. */
const NEVER_KEPT = /^(?:b?ssid|wifi|key|api_?key|pass(?:word)?|.*token|useragent)$/i

/** Our names for attributes that apps name differently. */
const OUR_NAMES: Readonly<Record<string, string>> = {
  charge: 'charging',
  sat: 'satellites',
  totalDistance: 'odometer',
}

/**
 * Twice as many as fit. Creating objects for the 100 000 names that a body can have would delay
 * other requests.
 */
const MOST_SCALARS = 64

/** The scalars among fields, except those with another use in the app's format. */
export function otherScalars(
  fields: Readonly<Record<string, unknown>>,
  used: Pick<ReadonlySet<string>, 'has'> = new Set(),
): SentAttributes {
  // Assigning a scalar to `__proto__` has no effect here.
  const attributes: Record<string, unknown> = {}
  let kept = 0
  for (const name of Object.keys(fields)) {
    if (kept >= MOST_SCALARS && name !== 'alarm') continue
    const value = fields[name]
    if (used.has(name) || !isScalar(value) || NEVER_KEPT.test(name)) continue
    const ours = Object.hasOwn(OUR_NAMES, name) ? OUR_NAMES[name]! : name
    // A field under our own name comes from the device itself.
    if (ours === name || !Object.hasOwn(fields, ours)) {
      attributes[ours] = value
      kept += 1
    }
  }
  return attributes
}

/** A non-negative number: apps write -1 for unknown values. */
export function nonNegativeNumber(value: unknown, factor = 1): number | undefined {
  const number = parseNumber(value)
  if (number === undefined || number < 0) return undefined
  return factor === 1 ? number : convertUnit(number, factor)
}

function isScalar(value: unknown): boolean {
  if (typeof value === 'string') return value !== ''
  return typeof value === 'number' || typeof value === 'boolean'
}
