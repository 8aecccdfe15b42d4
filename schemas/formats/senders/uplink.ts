import type { AppItem } from './app-request.ts'
import { decodedPayload, signalAt, type DecodedPosition } from './decoded-payload.ts'
import { EARLIEST, FURTHEST_AHEAD_MS } from '../../report/plain-report.ts'
import { timeIn } from '../times.ts'
import { measure, objectIn, type SentMeasurements } from '../values.ts'

/** The names of fields that the message about a payload lists. */
const SHOWN_NAMES = 12

/** An uplink of a LoRaWAN tracker, as a network server passes it on. */
export type Uplink = {
  readonly deviceId: string | undefined
  /** The payload as the server's decoder has written it; undefined if there is no decoder. */
  readonly payload: unknown
  /** Whether it has a payload at all, decoded or not. */
  readonly hasPayload: boolean
  readonly gateways: unknown
  /** The battery level in percent that the server knows. */
  readonly battery?: unknown
  /** A position that the server itself has found in the payload. */
  readonly found?: DecodedPosition | undefined
  readonly sentTime: unknown
  /** The JSON that a rejection shows. */
  readonly sent: unknown
}

/** The positions of an uplink, or a heartbeat. */
export function itemsOfUplink(uplink: Uplink): readonly AppItem[] {
  const { deviceId, payload, found, sent } = uplink
  const decoded = decodedPayload(payload)
  const attributes = { ...decoded.attributes, ...signalAt(uplink.gateways) }
  const common: SentMeasurements = {}
  measure(common, 'battery', uplink.battery, 0.01)
  measure(common, 'battery', decoded.battery, 0.01)
  const { battery } = common
  const [...positions] = decoded.positions
  if (positions.length === 0 && found !== undefined && !decoded.isWithoutFix) positions.push(found)
  if (positions.length > 0) {
    return positions.map((position) => {
      const { latitude, longitude } = position
      const sentTime = timeOf(position, uplink.sentTime)
      return {
        kind: 'point',
        deviceId,
        latitude,
        longitude,
        time: timeIn(sentTime),
        sentTime,
        measured: { ...common, ...position.measured },
        attributes: { ...attributes, ...position.attributes },
        sent,
      }
    })
  }
  const seen = { kind: 'seen', deviceId, battery, attributes } as const
  if (decoded.isWithoutFix) return [{ ...seen, isWithoutFix: true }]
  if (!uplink.hasPayload) return [seen]
  return [{ ...seen, ifUnknown: { message: noPosition(payload), sent } }]
}

/** A tracker's own time, unless its clock is wrong. */
function timeOf({ sentTime }: DecodedPosition, received: unknown): unknown {
  const time = timeIn(sentTime)
  const isPossible = time >= EARLIEST && !(time > timeIn(received) + FURTHEST_AHEAD_MS)
  return isPossible ? sentTime : received
}

function noPosition(payload: unknown): string {
  const names = Object.keys(objectIn(payload) ?? {})
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
