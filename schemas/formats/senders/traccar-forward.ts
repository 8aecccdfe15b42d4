import { parseJsonObject, type AppItem } from './app-request.ts'
import { EARLIEST } from '../../report/plain-report.ts'
import { isFlag } from '../no-fix.ts'
import { nonNegativeNumber, otherScalars, type SentAttributes } from '../sent-attributes.ts'
import {
  parseTime,
  METRES_PER_SECOND,
  isSent,
  measure,
  parseNumber,
  parseObject,
  parseText,
  type SentMeasurements,
} from '../values.ts'

/**
 * A Traccar server's position forwarding (`forward.type=json`), which supports all its protocols.
 */
export function readTraccarForward(body: Buffer): readonly AppItem[] {
  return [itemOf(body)]
}

function itemOf(body: Buffer): AppItem {
  const parsed = parseJsonObject(body)
  if ('malformed' in parsed) return parsed.malformed
  const { fields } = parsed
  const device = parseObject(fields['device'])
  const deviceId = parseText(device?.['uniqueId'])
  const position = parseObject(fields['position'])
  if (position === undefined && device === undefined) {
    const message = 'the body must be {"position":{…},"device":{…}}: set forward.type to json'
    return { kind: 'malformed', message, sent: fields }
  }
  const { latitude, longitude } = position ?? {}
  const { battery, attributes } = readTelemetry(parseObject(position?.['attributes']) ?? {})
  if (position === undefined || (!isSent(latitude) && !isSent(longitude))) {
    return { kind: 'seen', deviceId, battery, attributes }
  }
  if (isWithoutFix(position)) {
    return { kind: 'seen', deviceId, battery, attributes, isWithoutFix: true }
  }
  const measured: SentMeasurements = {}
  // Traccar writes 0 for an unknown accuracy.
  if (parseNumber(position['accuracy']) !== 0) measure(measured, 'accuracy', position['accuracy'])
  measure(measured, 'altitude', position['altitude'])
  measure(measured, 'speed', position['speed'], METRES_PER_SECOND.kn)
  measure(measured, 'heading', position['course'])
  if (battery !== undefined) measured.battery = battery
  const time = position['fixTime'] ?? position['deviceTime']
  return {
    kind: 'point',
    deviceId,
    latitude,
    longitude,
    time: parseTime(time),
    sentTime: time,
    measured,
    attributes,
    sent: fields,
  }
}

/**
 * Whether Traccar forwards an old position, or none, because a message had no position. It also
 * sets `outdated` on a position found by cells or Wi-Fi, which is new.
 */
function isWithoutFix(position: Fields): boolean {
  if (isFlag(position['valid'], false)) return true
  if (parseTime(position['fixTime']) < EARLIEST) return true
  const isApproximate = isFlag(parseObject(position['attributes'])?.['approximate'], true)
  return isFlag(position['outdated'], true) && !isApproximate
}

/** `batteryLevel` is in percent, where 1 means 1 %; `hours` are milliseconds. */
function readTelemetry(sent: Fields): { battery: number | undefined; attributes: SentAttributes } {
  const measured: SentMeasurements = {}
  measure(measured, 'battery', sent['batteryLevel'], 0.01)
  const others = otherScalars(sent, USED)
  const hours = nonNegativeNumber(sent['hours'])
  if (hours === undefined) return { battery: measured.battery, attributes: others }
  const engineHours = Math.round(hours / HUNDREDTH_HOUR_MS) / 100
  return { battery: measured.battery, attributes: { engineHours, ...others } }
}

type Fields = Readonly<Record<string, unknown>>
const HUNDREDTH_HOUR_MS = 36_000
const USED: ReadonlySet<string> = new Set(['batteryLevel', 'hours'])
