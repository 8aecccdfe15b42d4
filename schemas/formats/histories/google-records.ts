import { otherScalars, type SentAttributes } from '../sent-attributes.ts'
import { timeIn } from '../times.ts'
import { measurementsIn, numberIn, objectIn } from '../values.ts'
import type { Format, FileItem } from './format.ts'
import { activityIn } from './google-timeline.ts'
import { jsonElements, listIn, type Element } from './json-elements.ts'

/** Google Takeout's location history until 2024: `{"locations":[{"latitudeE7":…, …}]}`. */
export const googleRecords: Format = {
  name: 'google-records',
  title: 'Google Takeout (Records.json)',
  places: 'element',
  each: { text: '"latitudeE7"', what: 'locations' },
  recognises: (head) => /^\{\s*"locations"\s*:\s*\[/.test(head) && !/"Feature"/.test(head),

  async *read(text) {
    for await (const elements of jsonElements(text, ['$.locations.*'])) yield elements.map(itemOf)
  },
}

function itemOf({ number: place, value }: Element): FileItem {
  const location = objectIn(value)
  if (location === undefined) {
    return { kind: 'broken', place, message: 'a location must be an object' }
  }
  const { latitudeE7, longitudeE7 } = location
  const sentTime = location['timestamp'] ?? location['timestampMs']
  if (latitudeE7 === undefined && longitudeE7 === undefined) {
    return { kind: 'other', place, what: 'locations without coordinates' }
  }
  const { accuracy, altitude, velocity: speed, heading } = location
  return {
    kind: 'point',
    place,
    point: {
      deviceId: undefined,
      latitude: degrees(latitudeE7),
      longitude: degrees(longitudeE7),
      time: timeIn(sentTime),
      sentTime,
      measured: measurementsIn({ accuracy, altitude, speed, heading }),
      attributes: attributesIn(location),
    },
  }
}

const USED = new Set([
  ...['latitudeE7', 'longitudeE7', 'accuracy', 'altitude', 'velocity', 'heading'],
  ...['timestamp', 'timestampMs', 'serverTimestamp', 'deviceTimestamp', 'batteryCharging'],
])

function attributesIn(location: Readonly<Record<string, unknown>>): SentAttributes {
  const [guess] = listIn(location['activity'])
  const [likeliest] = listIn(objectIn(guess)?.['activity'])
  return {
    ...otherScalars(location, USED),
    charging: location['batteryCharging'],
    activity: activityIn(objectIn(likeliest)?.['type']),
  }
}

/**
 * Degrees from ten-millionths. Divided, because multiplying by 1e-7 gives other last digits. Some of Google's numbers
 * beyond 180 degrees have overflowed 32 bits.
 */
function degrees(e7: unknown): unknown {
  const number = numberIn(e7)
  if (number === undefined) return e7
  if (number > MOST_E7) return (number - 2 ** 32) / 1e7
  if (number < -MOST_E7) return (number + 2 ** 32) / 1e7
  return number / 1e7
}

const MOST_E7 = 180e7
