import { otherScalars } from '../sent-attributes.ts'
import { typedTexts } from '../typed-attributes.ts'
import {
  timeIn,
  isSent,
  measure,
  measureBattery,
  measurementsIn,
  objectIn,
  textIn,
} from '../values.ts'
import { misspeltFields } from '../../report/misspelt-fields.ts'
import type { FilePoint } from './format.ts'

type Fields = Readonly<Record<string, unknown>>

/** The names that programs give to the fields of a position; of several, the first counts. */
const NAMES = {
  deviceId: ['deviceId', 'device_id', 'tracker_id'],
  latitude: ['latitude', 'lat'],
  longitude: ['longitude', 'lon', 'lng', 'long'],
  timestamp: ['timestamp', 'time', 'datetime', 'recorded_at', 'when', 'date'],
  accuracy: ['accuracy'],
  altitude: ['altitude', 'ele', 'elevation', 'alt'],
  speed: ['speed', 'velocity'],
  heading: ['course', 'bearing', 'heading'],
  battery: ['battery'],
} as const

/** A point from fields named as in our own reports and records; numbers may be texts. */
export function ownPoint(fields: Fields): FilePoint {
  const measured = measurementsIn(fields)
  if (!isSent(fields['altitude'])) measure(measured, 'altitude', first(fields, NAMES.altitude))
  const { latitude, longitude, timestamp: sentTime } = fields
  const deviceId = textIn(fields['deviceId'])
  const attributes = objectIn(fields['attributes']) ?? {}
  const point = { deviceId, latitude, longitude, time: timeIn(sentTime), sentTime, measured }
  const misspelt = misspeltFields([fields])
  return { ...point, attributes, ...(misspelt.length > 0 && { misspelt }) }
}

/**
 * A point from fields of any of the usual names; all others that are scalars are attributes.
 * @param areTexts whether texts mean the values that they write, as in CSV.
 */
export function namedPoint(
  fields: Fields,
  { areTexts = false, used = USED }: { areTexts?: boolean; used?: ReadonlySet<string> } = {},
): FilePoint {
  const measured = measurementsIn({
    accuracy: first(fields, NAMES.accuracy),
    altitude: first(fields, NAMES.altitude),
    speed: first(fields, NAMES.speed),
    heading: first(fields, NAMES.heading),
  })
  measureBattery(measured, first(fields, NAMES.battery))
  const latitude = first(fields, NAMES.latitude)
  const longitude = first(fields, NAMES.longitude)
  const sentTime = first(fields, NAMES.timestamp)
  const deviceId = NAMES.deviceId.map((name) => textIn(fields[name])).find((id) => id !== undefined)
  const others = otherScalars(fields, used)
  const attributes = {
    ...(areTexts ? typedTexts(others) : others),
    ...objectIn(fields['attributes']),
  }
  return { deviceId, latitude, longitude, time: timeIn(sentTime), sentTime, measured, attributes }
}

/** Whether fields of these names are a position: a place and a time. */
export function namePosition(names: readonly string[]): boolean {
  return ([NAMES.latitude, NAMES.longitude, NAMES.timestamp] as const).every((aliases) =>
    aliases.some((name) => names.includes(name)),
  )
}

/** Whether they are named as in our own reports. */
export function areOwnNames(names: readonly string[]): boolean {
  return ['latitude', 'longitude', 'timestamp'].every((name) => names.includes(name))
}

/** The usual spelling of a field's name, which may be in any case. */
export function usualName(name: string): string {
  const trimmed = name.trim()
  return USUAL.get(trimmed.toLowerCase()) ?? trimmed
}

const USUAL = new Map(
  [...Object.values(NAMES).flat(), 'attributes'].map((name) => [name.toLowerCase(), name]),
)

function first(fields: Fields, names: readonly string[]): unknown {
  for (const name of names) if (isSent(fields[name])) return fields[name]
  return undefined
}

/** Names of no attributes: those above, and what GPSLogger derives from others. */
export const USED: ReadonlySet<string> = new Set([
  ...Object.values(NAMES).flat(),
  ...['timestamp_ms', 'starttimestamp_ms', 'time_offset', 'recordId', 'receivedAt', 'imported'],
])
