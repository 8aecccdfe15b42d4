import { EARLIEST, FURTHEST_AHEAD_MS } from '../../report/plain-report.ts'
import { parseJsonObject, type AppItem } from './app-request.ts'
import {
  readPosition,
  decodedPayload,
  readSignal,
  type DecodedPosition,
} from './decoded-payload.ts'
import {
  parseTime,
  isSent,
  measure,
  parseObject,
  parseText,
  type SentMeasurements,
} from '../values.ts'

/**
 * ChirpStack's HTTP integration, in JSON (https://www.chirpstack.io/docs/chirpstack/integrations/events.html).
 * Uplinks have the codec's decoded payload in `object`, resolved positions have `location`, and statuses
 * `batteryLevel`.
 */
export function readChirpstack(body: Buffer): readonly AppItem[] {
  const parsed = parseJsonObject(body)
  if ('malformed' in parsed) return [parsed.malformed]
  const { fields: sent } = parsed
  const device = parseObject(sent['deviceInfo'])
  if (device === undefined) {
    const message = 'this is not an event of ChirpStack 4: deviceInfo is missing'
    return [{ kind: 'malformed', message, sent }]
  }
  const deviceId = parseText(device['devEui'])
  const { object: payload, rxInfo: gateways, time: sentTime } = sent
  const hasPayload = isSent(payload) || isSent(sent['data'])
  const resolved = readPosition(sent['location'])
  if (hasPayload || resolved !== undefined) {
    return itemsOfUplink({
      deviceId,
      payload,
      hasPayload,
      gateways,
      sentTime,
      sent,
      found: resolved,
    })
  }
  const measured: SentMeasurements = {}
  if (sent['batteryLevelUnavailable'] !== true) {
    measure(measured, 'battery', sent['batteryLevel'], 0.01)
  }
  return [{ kind: 'seen', deviceId, battery: measured.battery }]
}

/**
 * Webhooks of The Things Stack
 * (https://www.thethingsindustries.com/docs/integrations/data-formats/).
 */
export function readTheThingsStack(body: Buffer): readonly AppItem[] {
  const parsed = parseJsonObject(body)
  if ('malformed' in parsed) return [parsed.malformed]
  const { fields: sent } = parsed
  const ids = parseObject(sent['end_device_ids'])
  if (ids === undefined) {
    const message = 'this is not a message of The Things Stack: end_device_ids is missing'
    return [{ kind: 'malformed', message, sent }]
  }
  const deviceId = parseText(ids['dev_eui']) ?? parseText(ids['device_id'])
  const uplink = parseObject(sent['uplink_message'])
  const sentTime = uplink?.['received_at'] ?? sent['received_at']
  const solved = readPosition(parseObject(sent['location_solved'])?.['location'])
  if (uplink === undefined && solved === undefined) return [{ kind: 'seen', deviceId }]
  const { decoded_payload: payload, rx_metadata: gateways, ...more } = uplink ?? {}
  return itemsOfUplink({
    deviceId,
    payload,
    gateways,
    sentTime,
    sent,
    hasPayload: isSent(payload) || isSent(more['frm_payload']),
    battery: parseObject(more['last_battery_percentage'])?.['value'],
    found: solved ?? readPosition(parseObject(more['locations'])?.['frm-payload']),
  })
}

/** The names of fields that the message about a payload lists. */
const SHOWN_NAMES = 12

/** An uplink of a LoRaWAN tracker, as forwarded by a network server. */
type Uplink = {
  readonly deviceId: string | undefined
  /** The payload as decoded by the server; undefined without a decoder. */
  readonly payload: unknown
  /** Whether it has a payload at all, decoded or not. */
  readonly hasPayload: boolean
  readonly gateways: unknown
  /** The battery level in percent known to the server. */
  readonly battery?: unknown
  /** A position determined by the server itself, from the payload or its gateways. */
  readonly found?: DecodedPosition | undefined
  readonly sentTime: unknown
  /** The JSON that a rejection shows. */
  readonly sent: unknown
}

/** The positions of an uplink, or a heartbeat. */
function itemsOfUplink(uplink: Uplink): readonly AppItem[] {
  const { deviceId, payload, sent } = uplink
  const decoded = decodedPayload(payload, uplink.found)
  const attributes = { ...decoded.attributes, ...readSignal(uplink.gateways) }
  const common: SentMeasurements = {}
  measure(common, 'battery', uplink.battery, 0.01)
  measure(common, 'battery', decoded.battery, 0.01)
  const { battery } = common
  const positions = decoded.positions.map(({ isStored, ...position }): AppItem => {
    const sentTime = isStored ? position.sentTime : timeOf(position, uplink.sentTime)
    const point = { ...position, deviceId, time: parseTime(sentTime), sentTime, sent }
    // The tracker's current measurements do not belong to a stored position.
    if (isStored) return { kind: 'point', ...point }
    const measured = { ...common, ...position.measured }
    return {
      kind: 'point',
      ...point,
      measured,
      attributes: { ...attributes, ...position.attributes },
    }
  })
  if (decoded.positions.some(({ isStored }) => !isStored)) return positions
  const seen = { kind: 'seen', deviceId, battery, attributes } as const
  if (decoded.isWithoutFix) return [...positions, { ...seen, isWithoutFix: true }]
  const isTold = battery !== undefined || Object.values(attributes).some(isSent)
  if (positions.length > 0) return isTold ? [...positions, seen] : positions
  if (!uplink.hasPayload) return [seen]
  return [{ ...seen, ifUnknown: { message: explainNoPosition(payload), sent } }]
}

/** A tracker's own time, unless its clock is wrong. */
function timeOf({ sentTime }: DecodedPosition, received: unknown): unknown {
  const time = parseTime(sentTime)
  const isPossible = time >= EARLIEST && !(time > parseTime(received) + FURTHEST_AHEAD_MS)
  return isPossible ? sentTime : received
}

function explainNoPosition(payload: unknown): string {
  const names = Object.keys(parseObject(payload) ?? {})
  if (names.length === 0) {
    return 'the uplink of a device without a position so far has no decoded payload: it needs a decoder'
  }
  const shown = names
    .slice(0, SHOWN_NAMES)
    .map((name) => name.slice(0, 40))
    .join(', ')
  const more = names.length > SHOWN_NAMES ? ', …' : ''
  return `the uplink of a device without a position so far has no latitude and longitude that are numbers within range, but ${shown}${more}`
}
