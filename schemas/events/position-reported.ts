import {
  accountIdOf,
  parseAttributes,
  identifier,
  jsonObject,
  milliseconds,
  numberField,
  requireOneOf,
  timeField,
  ulidField,
} from './event-fields.ts'
import { isoTime } from '../text/iso-8601.ts'
import { toJsonText } from './record-id.ts'
import {
  MEASUREMENTS,
  measurementsWriter,
  RANGES,
  type OptionalFields,
} from '../report/report-fields.ts'

/**
 * The event in the log: a device's position was reported and accepted.
 * Times are milliseconds since the epoch; `report-fields.ts` has the units of the numbers.
 */
export type PositionReported = OptionalFields & {
  /** ULID; the same for every repeat of one report. */
  readonly recordId: string
  readonly accountId: string
  readonly keyId: string
  readonly deviceId: string
  readonly latitude: number
  readonly longitude: number
  /** When the position was recorded. */
  readonly timestamp: number
  /** The source of `timestamp`: the device, or the server because the report had none. */
  readonly timestampSource: 'device' | 'server'
  /** When the ingest API received the report. */
  readonly receivedAt: number
}

export const POSITION_REPORTED = 'PositionReported.v1'

/** The key that preserves the order of a device's events. Account ids contain no slash. */
export function deviceKey({
  accountId,
  deviceId,
}: {
  accountId: string
  deviceId: string
}): string {
  return `${accountId}/${deviceId}`
}

/**
 * The event as JSON text, times as ISO 8601 UTC with milliseconds. Written field by field, which takes
 * half the time of `JSON.stringify`.
 */
export function encodePositionReported(event: PositionReported): string {
  const { timestampSource, attributes, imported } = event
  let rest = imported === true ? ',"imported":true' : ''
  if (attributes !== undefined) rest += `,"attributes":${JSON.stringify(attributes)}`
  return (
    `{"recordId":"${event.recordId}","accountId":${toJsonText(event.accountId)}` +
    `,"keyId":${toJsonText(event.keyId)},"deviceId":${toJsonText(event.deviceId)}` +
    `,"latitude":${event.latitude},"longitude":${event.longitude}${measured(event)}` +
    `,"timestamp":"${isoTime(event.timestamp)}","timestampSource":"${timestampSource}"` +
    `,"receivedAt":"${isoTime(event.receivedAt)}"${rest}}`
  )
}

const measured = measurementsWriter((name) => `,"${name}":`)

/**
 * Decodes an event from JSON. Unknown fields are ignored, so that old readers can read new events.
 * @throws {UndecodableEventError} naming the first fault.
 */
export function decodePositionReported(json: string): PositionReported {
  const fields = jsonObject(json)
  fields['timestamp'] = timeField(fields['timestamp'], 'timestamp')
  fields['receivedAt'] = timeField(fields['receivedAt'], 'receivedAt')
  return checkPositionReported(fields)
}

/**
 * Checks the fields of an event decoded from any format; times in milliseconds.
 * @throws {UndecodableEventError} naming the first invalid field.
 */
export function checkPositionReported(fields: Record<string, unknown>): PositionReported {
  const event: { -readonly [Name in keyof PositionReported]: PositionReported[Name] } = {
    recordId: ulidField(fields['recordId'], 'recordId'),
    accountId: accountIdOf(fields['accountId']),
    keyId: identifier(fields['keyId'], 'keyId'),
    deviceId: identifier(fields['deviceId'], 'deviceId'),
    latitude: numberField(fields['latitude'], 'latitude', ...RANGES.latitude),
    longitude: numberField(fields['longitude'], 'longitude', ...RANGES.longitude),
    timestamp: milliseconds(fields['timestamp'], 'timestamp'),
    timestampSource: requireOneOf(fields['timestampSource'], 'timestampSource', [
      'device',
      'server',
    ]),
    receivedAt: milliseconds(fields['receivedAt'], 'receivedAt'),
  }
  for (const name of MEASUREMENTS) {
    const value = fields[name]
    if (value !== undefined && value !== null) event[name] = numberField(value, name)
  }
  const attributes = parseAttributes(fields['attributes'])
  if (attributes !== undefined) event.attributes = attributes
  if (fields['imported'] === true) event.imported = true
  return event
}
