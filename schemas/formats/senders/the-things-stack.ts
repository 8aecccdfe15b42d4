import { jsonObjectIn, type AppItem } from './app-request.ts'
import { positionIn } from './decoded-payload.ts'
import { timeIn } from '../times.ts'
import { itemsOfUplink } from './uplink.ts'
import { isSent, objectIn, textIn } from '../values.ts'

/**
 * Webhooks of The Things Stack
 * (https://www.thethingsindustries.com/docs/integrations/data-formats/).
 */
export function readTheThingsStack(body: Buffer): readonly AppItem[] {
  const parsed = jsonObjectIn(body)
  if ('malformed' in parsed) return [parsed.malformed]
  const { fields: sent } = parsed
  const ids = objectIn(sent['end_device_ids'])
  if (ids === undefined) {
    const message = 'this is no message of The Things Stack: end_device_ids is missing'
    return [{ kind: 'malformed', message, sent }]
  }
  const deviceId = textIn(ids['dev_eui']) ?? textIn(ids['device_id'])
  const uplink = objectIn(sent['uplink_message'])
  const sentTime = uplink?.['received_at'] ?? sent['received_at']
  const solved = positionIn(objectIn(sent['location_solved'])?.['location'])
  if (solved !== undefined) {
    return [{ kind: 'point', deviceId, ...solved, time: timeIn(sentTime), sentTime, sent }]
  }
  if (uplink === undefined) return [{ kind: 'seen', deviceId }]
  const { decoded_payload: payload, rx_metadata: gateways } = uplink
  return itemsOfUplink({
    deviceId,
    payload,
    gateways,
    sentTime,
    sent,
    hasPayload: isSent(payload) || isSent(uplink['frm_payload']),
    battery: objectIn(uplink['last_battery_percentage'])?.['value'],
    found: positionIn(objectIn(uplink['locations'])?.['frm-payload']),
  })
}
