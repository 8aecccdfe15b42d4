import { parseNumber } from './values.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * Degrees. A receiver without a fix, or a decoder of its zeros, reports coordinates this near to
 * 0°, 0°.
 */
const NEAR_ZERO = 0.001
const SATELLITES = ['satellites', 'sat', 'sats', 'numSat']
/** Fields that are false if the tracker has no fix. */
const FIX = ['gpsStatus', 'fix']

/** Whether fields flag the position beside them as having no fix: an old position, or zeros. */
export function isMarkedAsNoFix(fields: Fields): boolean {
  return (
    isFlag(fields['fixFailed'], true) ||
    FIX.some((name) => isFlag(fields[name], false)) ||
    hasNoSatellites(fields)
  )
}

/**
 * Whether coordinates are the 0°, 0° of a receiver that sees no satellites. 0 satellites elsewhere
 * only mean that an app does not count them, and 0°, 0° without that number may be real.
 */
export function isZeroWithoutSatellites(
  { latitude, longitude }: { readonly latitude: unknown; readonly longitude: unknown },
  fields: Fields = {},
): boolean {
  return isNearZero(latitude) && isNearZero(longitude) && hasNoSatellites(fields)
}

/**
 * Whether a LoRaWAN decoder wrote zeros for a missing fix, even without mentioning satellites. A
 * device with satellites in view may really be at (0, 0).
 */
export function isZeroOfDecoder(
  { latitude, longitude }: { readonly latitude: unknown; readonly longitude: unknown },
  fields: Fields,
): boolean {
  const seesSome = SATELLITES.some((name) => (parseNumber(fields[name]) ?? 0) > 0)
  return isNearZero(latitude) && isNearZero(longitude) && !seesSome
}

function hasNoSatellites(fields: Fields): boolean {
  return SATELLITES.some((name) => parseNumber(fields[name]) === 0)
}

/** Whether a value, possibly written as text, is this boolean. */
export function isFlag(value: unknown, flag: boolean): boolean {
  return value === flag || (typeof value === 'string' && value.toLowerCase() === String(flag))
}

function isNearZero(value: unknown): boolean {
  return Math.abs(parseNumber(value) ?? NaN) <= NEAR_ZERO
}
