import { jsonObjectIn, type AppItem } from './app-request.ts'
import { sentPoint } from '../sent-point.ts'
import { knownNumber, otherScalars, type SentAttributes } from '../sent-attributes.ts'
import { isSent, measureBattery, measurementsIn, objectIn, textIn } from '../values.ts'

/**
 * The JSON of Traccar Client 9. The coordinates are in `coords`, or flat beside the time.
 * @param named the device, if the request names it outside of the body.
 */
export function readTraccarJson(
  body: Buffer,
  { named }: { named?: string | undefined } = {},
): readonly AppItem[] {
  const parsed = jsonObjectIn(body)
  if ('malformed' in parsed) return [parsed.malformed]
  const { fields } = parsed
  const deviceId = named ?? textIn(fields['device_id'])
  const location = objectIn(fields['location'])
  if (location === undefined) {
    const isHeartbeat = !isSent(fields['location']) && deviceId !== undefined
    if (isHeartbeat) return [{ kind: 'seen', deviceId }]
    const message = isSent(fields['location'])
      ? 'location must be a JSON object'
      : 'the body must be {"device_id":"…","location":{…}}'
    return [{ kind: 'malformed', deviceId, message, sent: fields }]
  }
  const coords = objectIn(location['coords']) ?? location
  const { latitude, longitude, accuracy, altitude, speed, heading } = coords
  const measured = measurementsIn({ accuracy, altitude, speed, heading })
  const battery = objectIn(location['battery']) ?? objectIn(fields['battery'])
  measureBattery(measured, battery?.['level'])
  const { timestamp } = location
  const attributes = attributesIn(location, battery)
  if (!isSent(latitude) && !isSent(longitude)) {
    return [{ kind: 'seen', deviceId, battery: measured.battery, attributes }]
  }
  return [
    sentPoint({ deviceId, latitude, longitude, timestamp, measured, attributes, sent: fields }),
  ]
}

type Properties = Readonly<Record<string, unknown>>

function attributesIn(location: Properties, battery: Properties | undefined): SentAttributes {
  const { odometer, event, is_moving: motion } = location
  const activity = objectIn(location['activity'])?.['type']
  const charging = battery?.['is_charging']
  return {
    ...otherScalars(objectIn(location['extras']) ?? {}),
    odometer: knownNumber(odometer),
    ...otherScalars({ event, motion, activity, charging }),
  }
}
