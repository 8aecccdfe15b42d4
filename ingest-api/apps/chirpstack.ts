import { EMPTY, type App, type AppItem } from './app.ts'
import { attributesIn, batteryPercentIn, positionIn } from './decoded-payload.ts'
import { jsonObjectIn } from './json-in.ts'
import { timeIn } from './times.ts'
import { measure, objectIn, textIn, type Measured } from './values.ts'

/** Enough for the receptions of many gateways. */
const LIMIT_BYTES = 64 * 1024

/** ChirpStack's HTTP integration, in JSON (https://www.chirpstack.io/docs/chirpstack/integrations/events.html). */
export const chirpstack: App = {
  name: 'chirpstack',
  limitBytes: LIMIT_BYTES,
  read: ({ body }) => [readEvent(body)],
  answer: () => EMPTY,
}

/** Uplinks have the codec's decoded payload in `object`, resolved positions have `location`. */
function readEvent(body: Buffer): AppItem {
  const parsed = jsonObjectIn(body)
  if ('malformed' in parsed) return parsed.malformed
  const { fields } = parsed
  const deviceId = textIn(objectIn(fields['deviceInfo'])?.['devEui'])
  const position = positionIn(fields['object']) ?? positionIn(fields['location'])
  if (position === undefined) return { kind: 'seen', deviceId }
  const measured: Measured = { ...position.measured }
  measure(measured, 'battery', batteryPercentIn(fields['object']), 0.01)
  const { latitude, longitude } = position
  const { time } = fields
  const attributes = attributesIn(fields['object'], fields['rxInfo'])
  return {
    ...{ kind: 'point', deviceId, latitude, longitude },
    ...{ time: timeIn(time), sentTime: time, measured, attributes, sent: fields },
  }
}
