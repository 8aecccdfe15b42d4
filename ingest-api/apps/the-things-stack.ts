import { EMPTY, type App, type AppItem } from './app.ts'
import { attributesIn, batteryPercentIn, positionIn } from './decoded-payload.ts'
import { jsonObjectIn } from './json-in.ts'
import { timeIn } from './times.ts'
import { measure, objectIn, textIn, type Measured } from './values.ts'

/** Enough for the receptions of many gateways. */
const LIMIT_BYTES = 64 * 1024

/**
 * Webhooks of The Things Stack
 * (https://www.thethingsindustries.com/docs/integrations/data-formats/).
 */
export const theThingsStack: App = {
  name: 'the-things-stack',
  limitBytes: LIMIT_BYTES,
  read: ({ body }) => [readMessage(body)],
  answer: () => EMPTY,
}

function readMessage(body: Buffer): AppItem {
  const parsed = jsonObjectIn(body)
  if ('malformed' in parsed) return parsed.malformed
  const { fields } = parsed
  const ids = objectIn(fields['end_device_ids'])
  const deviceId = textIn(ids?.['dev_eui']) ?? textIn(ids?.['device_id'])
  const uplink = objectIn(fields['uplink_message'])
  const solved = objectIn(fields['location_solved'])
  const position =
    positionIn(solved?.['location']) ??
    positionIn(uplink?.['decoded_payload']) ??
    positionIn(objectIn(uplink?.['locations'])?.['frm-payload'])
  if (position === undefined) return { kind: 'seen', deviceId }
  const measured: Measured = { ...position.measured }
  measure(measured, 'battery', objectIn(uplink?.['last_battery_percentage'])?.['value'], 0.01)
  measure(measured, 'battery', batteryPercentIn(uplink?.['decoded_payload']), 0.01)
  const time = uplink?.['received_at'] ?? fields['received_at']
  const { latitude, longitude } = position
  const attributes = attributesIn(uplink?.['decoded_payload'], uplink?.['rx_metadata'])
  return {
    ...{ kind: 'point', deviceId, latitude, longitude },
    ...{ time: timeIn(time), sentTime: time, measured, attributes, sent: fields },
  }
}
