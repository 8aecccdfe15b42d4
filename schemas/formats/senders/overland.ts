import { limitPoints, parseJsonObject, type AppItem, type AppRequest } from './app-request.ts'
import type { SentPoint } from '../sent-point.ts'
import { nonNegativeNumber, otherScalars, type SentAttributes } from '../sent-attributes.ts'
import {
  parseTime,
  isSent,
  measure,
  measureBattery,
  parseMeasurements,
  parseNumber,
  parseObject,
  parseText,
  type SentMeasurements,
} from '../values.ts'

/**
 * Overland's batches of GeoJSON features (https://github.com/aaronpk/Overland-iOS#api).
 * @param named the device, if the request names it outside the body.
 */
export function readOverland(
  body: AppRequest['body'],
  { named }: { named?: string | undefined } = {},
): readonly AppItem[] {
  const parsed = parseJsonObject(body)
  if ('malformed' in parsed) return [parsed.malformed]
  const { locations, current, device_id: envelopeId } = parsed.fields
  if (!Array.isArray(locations)) {
    return [malformed('the body must be {"locations":[…]}', parsed.fields)]
  }
  const device = parseText(envelopeId) ?? named
  const items: AppItem[] = []
  const seenDevices = new Map<string | undefined, Properties>()
  const positionedDevices = new Set<string | undefined>()
  let malformedFeatures = 0
  const { points, beyond } = limitPoints(locations)
  const features = isSent(current) ? points.concat([current]) : points
  for (const location of features) {
    const feature = parseObject(location)
    const properties = parseObject(feature?.['properties']) ?? NOTHING
    const deviceId = deviceIdOf(properties, device)
    const point = feature && pointOf(feature, { properties, deviceId })
    if (point === undefined) malformedFeatures += 1
    else if (point === 'action' && isSent(properties['alarm'])) {
      items.push(heartbeat(deviceId, properties))
    } else if (point === 'action') seenDevices.set(deviceId, properties)
    else {
      positionedDevices.add(deviceId)
      items.push(point)
    }
  }
  if (malformedFeatures > 0) {
    items.push(malformed(`${malformedFeatures} of the locations are not GeoJSON points`, undefined))
  }
  items.push(...beyond)
  if (items.length === 0 && seenDevices.size === 0) seenDevices.set(device, NOTHING)
  for (const [deviceId, properties] of seenDevices) {
    if (!positionedDevices.has(deviceId)) items.push(heartbeat(deviceId, properties))
  }
  return items
}

function heartbeat(deviceId: string | undefined, properties: Properties): AppItem {
  const measured: SentMeasurements = {}
  measureLevel(measured, properties)
  return {
    kind: 'seen',
    deviceId,
    battery: measured.battery,
    attributes: readAttributes(properties),
  }
}

type Properties = Readonly<Record<string, unknown>>
const NOTHING: Properties = {}

/**
 * Undefined if it is not a point: an 'action' without a geometry reports something that the app
 * did.
 */
function pointOf(
  feature: Properties,
  { properties, deviceId }: { properties: Properties; deviceId: string | undefined },
): SentPoint | 'action' | undefined {
  const { geometry } = feature
  if (geometry === undefined || geometry === null) return 'action'
  const coordinates: unknown = parseObject(geometry)?.['coordinates']
  if (!Array.isArray(coordinates) || coordinates.length < 2) return undefined
  const { horizontal_accuracy: accuracy, altitude, speed, course: heading, timestamp } = properties
  const measured = parseMeasurements({ accuracy, altitude, speed, heading })
  measureLevel(measured, properties)
  return {
    kind: 'point',
    deviceId,
    latitude: coordinates[1],
    longitude: coordinates[0],
    time: parseTime(timestamp),
    sentTime: timestamp,
    measured,
    attributes: readAttributes(properties),
    sent: feature,
  }
}

/**
 * Overland sends a fraction. GPSLogger and Home Assistant, which send batches for Dawarich, use
 * whole percent, of which 1 would mean full; they spell Overland's `deferred` with two f.
 */
function measureLevel(to: SentMeasurements, properties: Properties): void {
  const level = properties['battery_level']
  const isPercent = 'deffered' in properties && Number.isInteger(parseNumber(level))
  if (isPercent) measure(to, 'battery', level, 0.01)
  else measureBattery(to, level)
}

/** Whether a device is charging, by iOS's state of its battery. */
export const CHARGING = new Map<unknown, boolean>([
  ['charging', true],
  ['full', true],
  ['unplugged', false],
])

function readAttributes(properties: Properties): SentAttributes {
  const { motion } = properties
  return {
    activity: Array.isArray(motion) && motion.length > 0 ? motion.join() : undefined,
    altitude_accuracy: nonNegativeNumber(properties['altitude_accuracy']),
    charging: CHARGING.get(properties['battery_state']),
    course_accuracy: nonNegativeNumber(properties['course_accuracy']),
    speed_accuracy: nonNegativeNumber(properties['speed_accuracy']),
    verticalAccuracy: nonNegativeNumber(properties['vertical_accuracy']),
    ...otherScalars(properties, { has: (name) => name.startsWith('_') || USED.has(name) }),
  }
}

/** The protocol's reserved names. */
const USED: ReadonlySet<string> = new Set([
  ...['timestamp', 'altitude', 'speed', 'course', 'horizontal_accuracy', 'vertical_accuracy'],
  ...['altitude_accuracy', 'course_accuracy', 'speed_accuracy', 'battery_level', 'battery_state'],
  ...['motion', 'activity', 'type', 'unique_id', 'device_id', 'locations_in_payload', 'pauses'],
  ...['deferred', 'deffered', 'desired_accuracy', 'significant_change', 'tracking_mode'],
])

function deviceIdOf(properties: Properties, device: string | undefined): string | undefined {
  return parseText(properties['device_id']) ?? device ?? parseText(properties['unique_id'])
}

function malformed(message: string, sent: unknown): AppItem {
  return { kind: 'malformed', message, sent }
}
