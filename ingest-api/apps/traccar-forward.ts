import { EMPTY, type App, type AppItem } from './app.ts'
import { jsonObjectIn } from './json-in.ts'
import { otherScalars } from './sent-attributes.ts'
import { timeIn } from './times.ts'
import {
  isSent,
  measure,
  measureBattery,
  METRES_PER_SECOND,
  objectIn,
  textIn,
  type Measured,
} from './values.ts'

const LIMIT_BYTES = 16 * 1024

/** A Traccar server's position forwarding (`forward.type=json`), which brings all of its protocols. */
export const traccarForward: App = {
  name: 'traccar-forward',
  limitBytes: LIMIT_BYTES,
  read: ({ body }) => [readForwarded(body)],
  answer: () => EMPTY,
}

function readForwarded(body: Buffer): AppItem {
  const parsed = jsonObjectIn(body)
  if ('malformed' in parsed) return parsed.malformed
  const { fields } = parsed
  const deviceId = textIn(objectIn(fields['device'])?.['uniqueId'])
  const position = objectIn(fields['position'])
  const { latitude, longitude } = position ?? {}
  if (position === undefined || (!isSent(latitude) && !isSent(longitude))) {
    return { kind: 'seen', deviceId }
  }
  const measured: Measured = {}
  measure(measured, 'accuracy', position['accuracy'])
  measure(measured, 'altitude', position['altitude'])
  measure(measured, 'speed', position['speed'], METRES_PER_SECOND.kn)
  measure(measured, 'heading', position['course'])
  const sentAttributes = objectIn(position['attributes']) ?? {}
  measureBattery(measured, sentAttributes['batteryLevel'])
  const time = position['fixTime'] ?? position['deviceTime']
  return {
    kind: 'point',
    deviceId,
    latitude,
    longitude,
    time: timeIn(time),
    sentTime: time,
    measured,
    attributes: otherScalars(sentAttributes, USED),
    sent: fields,
  }
}

/** It is the battery, a measurement. */
const USED: ReadonlySet<string> = new Set(['batteryLevel'])
