import { otherScalars, type SentAttributes } from './sent-attributes.ts'
import { isSent, measure, numberIn, objectIn, type Measured } from './values.ts'

type Fields = Readonly<Record<string, unknown>>

/** The deepest nesting of values in decoders' payloads. */
const DEEPEST = 4

// Names as decoders write them, without case and underscores, with prefixes for GPS and suffixes for units.
const LATITUDE = /^(?:gps|position|pos|location)?lat(?:itude)?(?:deg|degrees)?$/
const LONGITUDE = /^(?:gps|position|pos|location)?(?:lon|long|lng|longitude)(?:deg|degrees)?$/

/** A position in the decoded payload of a tracker. */
export type DecodedPosition = {
  readonly latitude: unknown
  readonly longitude: unknown
  readonly measured: Measured
}

/**
 * Looks for a position in a decoded payload, by the names that decoders usually give it: `latitude`
 * and `longitude`, `lat` and `lng`, `gpsLatitude`, `latitudeDeg`, also inside of `gps_1`, `position`
 * and the like.
 */
export function positionIn(payload: unknown, depth = 0): DecodedPosition | undefined {
  const fields = objectIn(payload)
  if (fields === undefined || depth > DEEPEST) return undefined
  const latitude = named(fields, LATITUDE)
  const longitude = named(fields, LONGITUDE)
  if (isSent(latitude) && isSent(longitude)) {
    return { latitude, longitude, measured: measuredIn(fields) }
  }
  for (const value of Object.values(fields)) {
    const position = positionIn(value, depth + 1)
    if (position !== undefined) return position
  }
  return undefined
}

function named(fields: Fields, name: RegExp): unknown {
  const matching = Object.keys(fields).find((key) =>
    name.test(key.toLowerCase().replace(/[^a-z]/g, '')),
  )
  return matching === undefined ? undefined : fields[matching]
}

function measuredIn(fields: Fields): Measured {
  const measured: Measured = {}
  measure(measured, 'accuracy', fields['accuracy'] ?? fields['horizontalAccuracy'])
  measure(measured, 'altitude', fields['altitude'] ?? fields['alt'])
  measure(measured, 'heading', fields['heading'] ?? fields['headingDeg'] ?? fields['course'])
  measure(measured, 'speed', fields['speedKmph'] ?? fields['speed_kmh'], 1 / 3.6)
  return measured
}

/** The battery level, if the name says percent: a plain `battery` is as often volts. */
export function batteryPercentIn(payload: unknown): unknown {
  const fields = objectIn(payload) ?? {}
  const matching = Object.keys(fields).find((key) =>
    BATTERY_PERCENT.test(key.replace(/[^A-Za-z]/g, '')),
  )
  return matching === undefined ? undefined : fields[matching]
}

const BATTERY_PERCENT = /^bat(?:tery)?(?:level|percent|percentage|pct)$/i

/** The other scalars of a decoded payload, and the signal at the gateway that received it best. */
export function attributesIn(payload: unknown, gateways: unknown): SentAttributes {
  const others = otherScalars(objectIn(payload) ?? {}, USED)
  const named = Object.entries(others).filter(([name]) => !isPartOfPosition(name))
  const [best] = (Array.isArray(gateways) ? gateways : [])
    .map((gateway) => objectIn(gateway) ?? {})
    .sort((a, b) => signalOf(b) - signalOf(a))
  const { rssi, snr } = best ?? {}
  return { ...Object.fromEntries(named), rssi: numberIn(rssi), snr: numberIn(snr) }
}

/** The names that measurements are read from. */
const USED: ReadonlySet<string> = new Set([
  ...['accuracy', 'horizontalAccuracy', 'altitude', 'alt', 'heading', 'headingDeg', 'course'],
  ...['speedKmph', 'speed_kmh'],
])

function isPartOfPosition(name: string): boolean {
  const letters = name.toLowerCase().replace(/[^a-z]/g, '')
  return LATITUDE.test(letters) || LONGITUDE.test(letters) || BATTERY_PERCENT.test(letters)
}

function signalOf({ rssi }: Fields): number {
  return numberIn(rssi) ?? -Infinity
}
