import {
  accountIdOf,
  parseAttributes,
  identifier,
  jsonObject,
  milliseconds,
  numberField,
  timeField,
  ulidField,
} from './event-fields.ts'
import { isoTime } from '../text/iso-8601.ts'
import { RANGES, type Telemetry } from '../report/report-fields.ts'

/**
 * The event in the log: a heartbeat, a device reported without a position. It has the device's
 * key. It updates the time when the device was last seen, the key it last used and its telemetry, nothing else, and
 * before the device's first position it has no effect. Repeats do no harm, so consumers need not recognise them.
 */
export type DeviceSeen = Telemetry & {
  /** ULID; in the log it is the event's id and not part of its value. */
  readonly eventId: string
  readonly accountId: string
  readonly deviceId: string
  readonly keyId: string
  /** When the ingest API received it, in milliseconds since the epoch. */
  readonly receivedAt: number
}

export const DEVICE_SEEN = 'DeviceSeen.v1'

/** The event's value as JSON text, the time as ISO 8601 UTC with milliseconds. */
export function encodeDeviceSeen(event: DeviceSeen): string {
  const { accountId, deviceId, keyId, receivedAt, battery, attributes } = event
  const seen = { accountId, deviceId, keyId, receivedAt: isoTime(receivedAt) }
  return JSON.stringify({ ...seen, battery, attributes })
}

/**
 * Decodes an event from its id and its value as JSON. Unknown fields are ignored.
 * @throws {UndecodableEventError} naming the first fault.
 */
export function decodeDeviceSeen(json: string, eventId: string | undefined): DeviceSeen {
  const fields = jsonObject(json)
  fields['receivedAt'] = timeField(fields['receivedAt'], 'receivedAt')
  return checkDeviceSeen(fields, eventId)
}

/**
 * Checks the fields of an event decoded from any format.
 * @throws {UndecodableEventError} naming the first invalid field.
 */
export function checkDeviceSeen(
  fields: Record<string, unknown>,
  eventId: string | undefined,
): DeviceSeen {
  const event: { -readonly [Name in keyof DeviceSeen]: DeviceSeen[Name] } = {
    eventId: ulidField(eventId, 'eventId'),
    accountId: accountIdOf(fields['accountId']),
    deviceId: identifier(fields['deviceId'], 'deviceId'),
    keyId: identifier(fields['keyId'], 'keyId'),
    receivedAt: milliseconds(fields['receivedAt'], 'receivedAt'),
  }
  const battery = fields['battery'] ?? undefined
  if (battery !== undefined) event.battery = numberField(battery, 'battery', ...RANGES.battery)
  const attributes = parseAttributes(fields['attributes'])
  if (attributes !== undefined) event.attributes = attributes
  return event
}
