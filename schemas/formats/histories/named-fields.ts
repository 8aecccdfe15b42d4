import { toCamelCase } from '../senders/sensecap.ts'
import { nonNegativeNumber, otherScalars } from '../sent-attributes.ts'
import { typeTexts } from '../typed-attributes.ts'
import {
  parseTime,
  isSent,
  measure,
  measureBattery,
  parseMeasurements,
  METRES_PER_SECOND,
  parseObject,
  parseText,
} from '../values.ts'
import { findMisspeltFields } from '../../report/misspelt-fields.ts'
import type { FilePoint } from './format.ts'

type Fields = Readonly<Record<string, unknown>>

/** The names that programs use for the fields of a position; of several, the first counts. */
export const FIELD_NAMES = {
  deviceId: ['deviceId', 'device_id', 'tracker_id'],
  latitude: ['latitude', 'lat'],
  longitude: ['longitude', 'lon', 'lng', 'long'],
  timestamp: ['timestamp', 'time', 'datetime', 'recorded_at', 'when', 'date', 'tst'],
  accuracy: ['accuracy', 'hAcc', 'hacc', 'horizontalAccuracy', 'horizontal_accuracy'],
  verticalAccuracy: ['verticalAccuracy', 'vAcc', 'vacc', 'vertical_accuracy'],
  altitude: ['altitude', 'ele', 'elevation', 'alt'],
  speed: ['speed', 'velocity'],
  heading: ['course', 'bearing', 'heading'],
  battery: ['battery'],
} as const

/**
 * Reads a point from fields with any of the usual names; all other scalar fields become attributes.
 * @param areTexts whether texts stand for the values they spell, as in CSV.
 */
export function namedPoint(
  fields: Fields,
  { areTexts = false, used = USED }: { areTexts?: boolean; used?: ReadonlySet<string> } = {},
): FilePoint {
  const measured = parseMeasurements(
    {
      accuracy: first(fields, FIELD_NAMES.accuracy),
      altitude: first(fields, FIELD_NAMES.altitude),
      speed: first(fields, FIELD_NAMES.speed),
      heading: first(fields, FIELD_NAMES.heading),
    },
    { speed: METRES_PER_SECOND[isOfGeoPulse(fields) ? 'kmh' : 'mps'] },
  )
  const battery = first(fields, FIELD_NAMES.battery)
  if (hasPercent(fields)) measure(measured, 'battery', battery, 0.01)
  else measureBattery(measured, battery)
  const latitude = first(fields, FIELD_NAMES.latitude)
  const longitude = first(fields, FIELD_NAMES.longitude)
  const sentTime = timeOf(fields)
  const deviceId = FIELD_NAMES.deviceId
    .map((name) => parseText(fields[name]))
    .find((id) => id !== undefined)
  const misspelt = findMisspelt(fields)
  const taken = 'recordId' in fields ? USED_IN_EXPORTS : used
  const others = otherScalars(
    fields,
    misspelt.length === 0 ? taken : new Set([...taken, ...misspelt]),
  )
  const attributes = {
    ...(areTexts ? typeTexts(others) : others),
    verticalAccuracy: nonNegativeNumber(first(fields, FIELD_NAMES.verticalAccuracy)),
    ...parseObject(fields['attributes']),
  }
  const point = { deviceId, latitude, longitude, time: parseTime(sentTime), sentTime, measured }
  return { ...point, attributes, ...(misspelt.length > 0 && { misspelt }) }
}

/** GeoPulse uses km/h and percent. */
function isOfGeoPulse(fields: Fields): boolean {
  return 'velocity' in fields && ('source_type' in fields || 'sourceType' in fields)
}

/** In percent, 1 means 1 %. Only Dawarich has trackers. */
function hasPercent(fields: Fields): boolean {
  return isOfGeoPulse(fields) || 'tracker_id' in fields
}

/** A time of day, whose date is in another field. */
const TIME_OF_DAY = /^\d\d?:\d\d|^\d{6}(?:\.\d+)?$/

/** In dates with dots the day always comes first. */
const DAY_FIRST = /^(\d\d)\.(\d\d)\.(\d{4})(?= )/

function timeOf(fields: Fields): unknown {
  const sent = dateAndTime(fields)
  return typeof sent === 'string' ? sent.trim().replace(DAY_FIRST, '$3-$2-$1') : sent
}

function dateAndTime(fields: Fields): unknown {
  const sent = first(fields, FIELD_NAMES.timestamp)
  const [date, time] = [parseText(fields['date']), parseText(fields['time'])]
  if (date === undefined || time === undefined || parseText(sent) !== time) return sent
  if (!TIME_OF_DAY.test(time)) return sent
  return `${date} ${time.replace(/^(?=\d:)/, '0')}`
}

/** Whether fields with these names form a position: coordinates and a time. */
export function namePosition(names: readonly string[]): boolean {
  return ([FIELD_NAMES.latitude, FIELD_NAMES.longitude, FIELD_NAMES.timestamp] as const).every(
    (aliases) => aliases.some((name) => names.includes(name)),
  )
}

/** Names nearly matching ours, among fields named as in our own reports. */
function findMisspelt(fields: Fields): readonly string[] {
  if (!['latitude', 'longitude', 'timestamp'].every((name) => name in fields)) return []
  return findMisspeltFields([fields]).filter((name) => !USED.has(name))
}

/**
 * The normal form of a column name, which may be in any case; `Fuel level` cannot be an attribute
 * name.
 */
export function normalizeName(name: string): string {
  const trimmed = name.trim()
  const usual = USUAL.get(trimmed.toLowerCase().replace(OF_TIME, ''))
  return usual ?? ((/[^\w.-]/.test(trimmed) && toCamelCase(trimmed)) || trimmed)
}

/** `UTC Date` and `gps_time`. */
const OF_TIME = /^(?:utc|gps)[ _](?=(?:date|time)$)/
const USUAL = new Map(
  [...Object.values(FIELD_NAMES).flat(), 'attributes'].map((name) => [name.toLowerCase(), name]),
)

function first(fields: Fields, names: readonly string[]): unknown {
  for (const name of names) if (isSent(fields[name])) return fields[name]
  return undefined
}

/** Names that are not attributes: those above, and those GPSLogger derives from others. */
export const USED: ReadonlySet<string> = new Set([
  ...Object.values(FIELD_NAMES).flat(),
  ...['timestamp_ms', 'starttimestamp_ms', 'time_offset', 'recordId', 'receivedAt', 'imported'],
])

/** Operators set the name and the labels of a device; our exports repeat them. */
const USED_IN_EXPORTS = new Set([...USED, 'name', 'labels'])
