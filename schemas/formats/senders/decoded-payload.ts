import { RANGES, type Coordinate } from '../../report/report-fields.ts'
import { isMarkedAsNoFix, isZeroOfDecoder } from '../no-fix.ts'
import { otherScalars, type SentAttributes } from '../sent-attributes.ts'
import { isPanic, addSos } from './panic-button.ts'
import { readFrames, type SensecapFrame } from './sensecap.ts'
import { isSent, measure, parseNumber, parseObject, type SentMeasurements } from '../values.ts'

type Fields = Readonly<Record<string, unknown>>

/** Exact names come first: Dragino's `LON` is an LED. */
const NAMES: Readonly<Record<Coordinate, readonly string[]>> = {
  latitude: ['latitude', 'lat', 'latitudeDeg', 'Latitude'],
  longitude: ['longitude', 'lon', 'lng', 'long', 'longitudeDeg', 'Longitude', 'Longitud'],
}
/**
 * Patterns for these names in any case, ignoring other characters than letters, with prefixes and
 * units.
 */
const PATTERNS: Readonly<Record<Coordinate, RegExp>> = {
  latitude: /^(?:gps|position|pos|location)?lat(?:itude)?(?:deg|degrees)?$/,
  longitude: /^(?:gps|position|pos|location)?(?:lon|long|lng|longitude?)(?:deg|degrees)?$/,
}
/** Objects whose positions are old, or not the tracker's own. */
const ELSEWHERE = /^(?:cached|last|previous|history|geofence)/i
const SETTINGS = /^(?:cached|last|previous|history)|conf|setting|threshold/i

/** A position in the decoded payload of a tracker. */
export type DecodedPosition = {
  readonly latitude: unknown
  readonly longitude: unknown
  readonly measured: SentMeasurements
  /** The timestamp in the payload, as sent, if any. */
  readonly sentTime?: unknown
  /** It is an earlier position that the tracker has stored. */
  readonly isStored?: true
  readonly attributes?: SentAttributes
}

/** The content of a decoded payload. */
export type DecodedPayload = {
  /** Usually one. Several if the tracker sends stored positions. */
  readonly positions: readonly DecodedPosition[]
  /** Whether the tracker flags its position as having no fix. */
  readonly isWithoutFix: boolean
  /** The battery level in percent. */
  readonly battery: unknown
  readonly attributes: SentAttributes
}

/**
 * Reads a payload as written by trackers' decoders.
 * @param found the position known to the network server, used if the payload has none.
 */
export function decodedPayload(payload: unknown, found?: DecodedPosition): DecodedPayload {
  const fields = parseObject(payload) ?? {}
  const { frames, others } = readFrames(fields['messages'])
  const placed = findFieldsWithPosition(fields)
  const isMarked =
    isMarkedAsNoFix(fields) ||
    (placed === undefined
      ? readCoordinates(parseObject(fields['cached'])) !== undefined && frames.length === 0
      : isMarkedAsNoFix(placed.fields))
  const sent = placed === undefined ? frames.map(readFrame) : [placed.position]
  if (sent.length === 0 && found !== undefined) sent.push(found)
  const beside = { ...fields, ...placed?.fields }
  const current = isMarked ? [] : sent.filter((one) => !isZeroOfDecoder(one, beside))
  const attributes = { ...pickScalars(fields), ...others.attributes }
  return {
    positions: [...readStoredPositions(fields), ...current],
    isWithoutFix: isMarked || (current.length === 0 && sent.length > 0),
    battery: readBattery(fields) ?? others.battery,
    attributes: isPanic(fields, innerObjects(fields, SETTINGS)) ? addSos(attributes) : attributes,
  }
}

const TIMES = ['timestamp', 'time', 'ts', 'datetime', 'dateTime', 'gpsTime', 'fixTime']

/** The positions in lists such as Milesight's `history`, which have their own times. */
function readStoredPositions(fields: Fields): DecodedPosition[] {
  const lists = [fields, ...innerObjects(fields)]
    .flatMap((one) => Object.entries(one))
    .flatMap(([name, list]) =>
      Array.isArray(list) && name !== 'cached' ? (list as unknown[]) : [],
    )
  return lists.flatMap((element) => {
    const place = parseObject(element) ?? {}
    const position = readCoordinates(place)
    const time = TIMES.find((name) => isSent(place[name]))
    if (position === undefined || time === undefined) return []
    if (isMarkedAsNoFix(place) || isZeroOfDecoder(position, place)) return []
    return [{ ...position, sentTime: place[time], isStored: true }]
  })
}

/** Dragino's trackers write the time of a stored position as `Date` 2026:1:31 and `Time` 9:5:7. */
function dateAndTime({ Date: date, Time: time }: Fields): { readonly sentTime?: unknown } {
  if (typeof date !== 'string' || typeof time !== 'string') return {}
  const [year, month, day, ...clock] = `${date}:${time}`
    .split(/[:/-]/)
    .map((part) => part.padStart(2, '0'))
  return { sentTime: `${year}-${month}-${day}T${clock.join(':')}Z` }
}

/** The position found by a server: `{latitude, longitude, …}`. */
export function readPosition(place: unknown): DecodedPosition | undefined {
  return readCoordinates(parseObject(place))
}

/** Finds the position in a payload, at its top level or one below, and the fields beside it. */
function findFieldsWithPosition(
  fields: Fields,
): { readonly position: DecodedPosition; readonly fields: Fields } | undefined {
  const position = readCoordinates(fields)
  if (position !== undefined) return { position, fields }
  for (const inner of [...innerObjects(fields), abeewaysFix(fields)]) {
    const found = readCoordinates(inner)
    if (inner !== undefined && found !== undefined) return { position: found, fields: inner }
  }
  return undefined
}

function innerObjects(fields: Fields, besides = ELSEWHERE): Fields[] {
  return Object.keys(fields)
    .filter((name) => !besides.test(name))
    .map((name) => parseObject(fields[name]))
    .filter((inner) => inner !== undefined)
}

/** Abeeway's newer decoders put it one level further down. */
function abeewaysFix(fields: Fields): Fields | undefined {
  return parseObject(parseObject(fields['position'])?.['gnssFix'])
}

function readCoordinates(fields: Fields | undefined): DecodedPosition | undefined {
  if (fields === undefined) return undefined
  const latitude = readCoordinate(fields, 'latitude')
  const longitude = latitude === undefined ? undefined : readCoordinate(fields, 'longitude')
  if (longitude === undefined) return undefined
  return { latitude, longitude, measured: readMeasurements(fields), ...dateAndTime(fields) }
}

/** The value of the first name with a number in range. */
function readCoordinate(fields: Fields, coordinate: Coordinate): unknown {
  const exact = NAMES[coordinate].find((name) => isCoordinate(fields[name], coordinate))
  const name =
    exact ??
    Object.keys(fields).find(
      (name) =>
        PATTERNS[coordinate].test(keepLetters(name)) && isCoordinate(fields[name], coordinate),
    )
  return name === undefined ? undefined : fields[name]
}

function isCoordinate(value: unknown, coordinate: Coordinate): boolean {
  const number = parseNumber(value)
  const [least, greatest] = RANGES[coordinate]
  return number !== undefined && number >= least && number <= greatest
}

function keepLetters(name: string): string {
  return name.toLowerCase().replace(/[^a-z]/g, '')
}

function readMeasurements(fields: Fields): SentMeasurements {
  const measured: SentMeasurements = {}
  measure(measured, 'accuracy', fields['accuracy'] ?? fields['horizontalAccuracy'])
  measure(measured, 'altitude', fields['altitude'] ?? fields['alt'])
  measure(measured, 'heading', fields['heading'] ?? fields['headingDeg'] ?? fields['course'])
  measure(measured, 'speed', fields['speedKmph'] ?? fields['speed_kmh'], 1 / 3.6)
  return measured
}

function readFrame({
  latitude,
  longitude,
  time,
  battery,
  attributes,
}: SensecapFrame): DecodedPosition {
  const measured: SentMeasurements = {}
  measure(measured, 'battery', battery, 0.01)
  return { latitude, longitude, measured, sentTime: time, attributes }
}

/** The battery level, if its name says percent: a plain `battery` is often in volts. */
function readBattery(fields: Fields): unknown {
  for (const inner of [fields, ...innerObjects(fields)]) {
    const name = Object.keys(inner).find((name) => BATTERY_PERCENT.test(keepLetters(name)))
    if (name !== undefined && parseNumber(inner[name]) !== undefined) return inner[name]
  }
  return undefined
}

const BATTERY_PERCENT = /^bat(?:tery)?(?:level|percent|percentage|pct)$/

/**
 * Decoders' names for our attributes, in lower case and without the number of a channel, as in
 * Cayenne LPP's `temperature_2`.
 */
const OUR_NAMES: ReadonlyMap<string, string> = new Map([
  ...['temperature', 'temp', 'tem'].map((name) => [name, 'temperature'] as const),
  ...['humidity', 'hum', 'relative_humidity'].map((name) => [name, 'humidity'] as const),
  ...['pressure', 'barometric_pressure'].map((name) => [name, 'pressure'] as const),
  ...['satellites', 'sats', 'sat', 'numsat'].map((name) => [name, 'satellites'] as const),
])
const CHANNEL = /_\d{1,2}$/

function pickScalars(fields: Fields): SentAttributes {
  const others = Object.entries(otherScalars(fields, USED))
  const attributes: Record<string, unknown> = {}
  for (const [name, value] of others) {
    if (isPartOfPosition(name, fields)) continue
    const ours = OUR_NAMES.get(name.toLowerCase().replace(CHANNEL, ''))
    // The first of several channels gets the name.
    const isFree = ours !== undefined && !Object.hasOwn(fields, ours) && !(ours in attributes)
    attributes[isFree && parseNumber(value) !== undefined ? ours : name] = value
  }
  return attributes
}

/** The names that measurements are read from. */
const USED: ReadonlySet<string> = new Set([
  ...['accuracy', 'horizontalAccuracy', 'altitude', 'alt', 'heading', 'headingDeg', 'course'],
  ...['speedKmph', 'speed_kmh'],
])

/** A text such as Dragino's `LON: "ON"` is not a coordinate. */
function isPartOfPosition(name: string, fields: Fields): boolean {
  const letters = keepLetters(name)
  if (BATTERY_PERCENT.test(letters)) return true
  const isNamed = PATTERNS.latitude.test(letters) || PATTERNS.longitude.test(letters)
  return isNamed && parseNumber(fields[name]) !== undefined
}

/** The signal at the gateway with the best reception of an uplink. */
export function readSignal(gateways: unknown): SentAttributes {
  const [best] = (Array.isArray(gateways) ? gateways : [])
    .map((gateway) => parseObject(gateway) ?? {})
    .sort((a, b) => signalOf(b) - signalOf(a))
  const { rssi, snr } = best ?? {}
  return { rssi: parseNumber(rssi), snr: parseNumber(snr) }
}

function signalOf({ rssi }: Fields): number {
  return parseNumber(rssi) ?? -Infinity
}
