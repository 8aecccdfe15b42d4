import { jsonObjectIn, type AppItem } from './app-request.ts'
import { positionIn } from './decoded-payload.ts'
import { timeIn } from '../times.ts'
import { itemsOfUplink } from './uplink.ts'
import { isSent, measure, objectIn, textIn, type SentMeasurements } from '../values.ts'

/**
 * ChirpStack's HTTP integration, in JSON (https://www.chirpstack.io/docs/chirpstack/integrations/events.html).
 * Uplinks have the codec's decoded payload in `object`, resolved positions have `location`, and statuses
 * `batteryLevel`.
 */
export function readChirpstack(body: Buffer): readonly AppItem[] {
  const parsed = jsonObjectIn(body)
  if ('malformed' in parsed) return [parsed.malformed]
  const { fields: sent } = parsed
  const device = objectIn(sent['deviceInfo'])
  if (device === undefined) {
    const message = 'this is no event of ChirpStack 4: deviceInfo is missing'
    return [{ kind: 'malformed', message, sent }]
  }
  const deviceId = textIn(device['devEui'])
  const { object: payload, rxInfo: gateways, time: sentTime } = sent
  const hasPayload = isSent(payload) || isSent(sent['data'])
  const resolved = positionIn(sent['location'])
  if (resolved !== undefined && !hasPayload) {
    return [{ kind: 'point', deviceId, ...resolved, time: timeIn(sentTime), sentTime, sent }]
  }
  if (hasPayload) {
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
