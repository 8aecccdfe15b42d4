import { otherScalars, type SentAttributes } from '../sent-attributes.ts'
import {
  parseTime,
  parseMeasurements,
  parseNumber,
  parseObject,
  type SentMeasurements,
} from '../values.ts'
import type { Format, FileItem } from './format.ts'
import { jsonElements, listIn, type Element } from './json-elements.ts'

type Fields = Readonly<Record<string, unknown>>

/** `50.0506312°, 14.3439906°` of Android and `geo:50.050631,14.343990` of iOS. */
const PLACE = /^(?:geo:)?\s*([-+.\de]+)°?\s*,\s*([-+.\de]+)°?/i

/** The Timeline as Android exports it: `{"semanticSegments":[…],"rawSignals":[…], …}`. */
export const googleAndroid: Format = {
  name: 'google-android',
  title: 'Google Timeline from Android (Timeline.json)',
  places: 'element',
  each: { text: '"startTime"', what: 'segments' },
  recognises: (head) => /^\{\s*"(?:semanticSegments|rawSignals|userLocationProfile)"/.test(head),

  async *read(text) {
    for await (const elements of jsonElements(text, ['$.semanticSegments.*', '$.rawSignals.*'])) {
      yield elements.flatMap(itemsOf)
    }
  },
}

/** The Timeline as iOS exports it: a list of segments. */
export const googleIos: Format = {
  name: 'google-ios',
  title: 'Google Timeline from iOS (location-history.json)',
  places: 'element',
  each: { text: '"startTime"', what: 'segments' },
  recognises: (head) =>
    /^\[\s*\{/.test(head) &&
    /"startTime"\s*:/.test(head) &&
    /"(?:timelinePath|visit|activity|timelineMemory)"\s*:/.test(head),

  async *read(text) {
    for await (const elements of jsonElements(text, ['$.*'])) {
      yield elements.flatMap(({ number, value }) => segmentPoints(parseObject(value) ?? {}, number))
    }
  },
}

function itemsOf({ number: place, value }: Element): FileItem[] {
  const element = parseObject(value) ?? {}
  const position = parseObject(element['position'])
  if (position !== undefined) {
    const { LatLng: at, timestamp: sentTime } = position
    return [timelinePoint(place, { at, sentTime, ...signalDetails(position) })]
  }
  if (element['startTime'] !== undefined) return segmentPoints(element, place)
  const [type = 'empty elements'] = Object.keys(element)
  return [{ kind: 'other', place, what: type }]
}

/**
 * The positions of a segment of Google's Timeline: the points of a path, the ends of an activity,
 * and a visit's location at its start and end.
 */
function segmentPoints(segment: Fields, place: number): FileItem[] {
  const { startTime, endTime, timelinePath } = segment
  const visit = parseObject(segment['visit'])
  const activity = parseObject(segment['activity'])
  if (Array.isArray(timelinePath)) {
    return timelinePath.map((step: unknown) => {
      const { point, time, durationMinutesOffsetFromStartTime: minutes } = parseObject(step) ?? {}
      return timelinePoint(place, {
        at: point,
        sentTime: time ?? startTime,
        ...(time === undefined && { laterMs: (parseNumber(minutes) ?? 0) * 60_000 }),
      })
    })
  }
  if (activity !== undefined) {
    const type = parseObject(activity['topCandidate'])?.['type']
    const attributes = { activity: parseActivity(type) }
    return [
      timelinePoint(place, { at: parseLatLng(activity['start']), sentTime: startTime, attributes }),
      timelinePoint(place, { at: parseLatLng(activity['end']), sentTime: endTime, attributes }),
    ]
  }
  if (visit === undefined) return [{ kind: 'other', place, what: 'segments without positions' }]
  // A shop in a mall is a visit within a visit.
  if ((parseNumber(visit['hierarchyLevel']) ?? 0) > 0) {
    return [{ kind: 'other', place, what: 'visits within visits' }]
  }
  const at = parseLatLng(parseObject(visit['topCandidate'])?.['placeLocation'])
  const attributes = { event: 'visit' }
  return [startTime, endTime].map((sentTime) => timelinePoint(place, { at, sentTime, attributes }))
}

/** A point of the Timeline, from its coordinates as text. */
function timelinePoint(
  place: number,
  {
    at,
    sentTime,
    laterMs = 0,
    ...more
  }: {
    at: unknown
    sentTime: unknown
    laterMs?: number
    measured?: SentMeasurements
    attributes?: SentAttributes
  },
): FileItem {
  if (at === undefined) return { kind: 'other', place, what: 'segments without positions' }
  const [, latitude = at, longitude = at] = PLACE.exec(typeof at === 'string' ? at : '') ?? []
  const time = parseTime(sentTime) + laterMs
  const point = { deviceId: undefined, latitude, longitude, time, sentTime, measured: {}, ...more }
  return { kind: 'point', place, point }
}

/** The measurements and other contents of a raw signal. */
function signalDetails(position: Fields): {
  measured: SentMeasurements
  attributes: SentAttributes
} {
  const {
    accuracyMeters: accuracy,
    altitudeMeters: altitude,
    speedMetersPerSecond: speed,
  } = position
  return {
    measured: parseMeasurements({ accuracy, altitude, speed }),
    attributes: otherScalars(position, USED),
  }
}

const USED = new Set([
  ...['LatLng', 'timestamp', 'accuracyMeters', 'altitudeMeters', 'speedMetersPerSecond'],
])

/** For example `walking`; Android and Takeout write it in capitals. */
function parseActivity(type: unknown): string | undefined {
  return typeof type === 'string' ? type.toLowerCase() : undefined
}

/** Android uses objects, iOS texts. */
function parseLatLng(value: unknown): unknown {
  return parseObject(value)?.['latLng'] ?? (typeof value === 'string' ? value : undefined)
}

/** Google Takeout's location history until 2024: `{"locations":[{"latitudeE7":…, …}]}`. */
export const googleRecords: Format = {
  name: 'google-records',
  title: 'Google Takeout (Records.json)',
  places: 'element',
  each: { text: '"latitudeE7"', what: 'locations' },
  recognises: (head) => /^\{\s*"locations"\s*:\s*\[/.test(head) && !/"(?:Feature|tst)"/.test(head),

  async *read(text) {
    for await (const elements of jsonElements(text, ['$.locations.*'])) yield elements.map(itemOf)
  },
}

function itemOf({ number: place, value }: Element): FileItem {
  const location = parseObject(value)
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
      time: parseTime(sentTime),
      sentTime,
      measured: parseMeasurements({ accuracy, altitude, speed, heading }),
      attributes: parseAttributes(location),
    },
  }
}

const USED_OF_RECORDS = new Set([
  ...['latitudeE7', 'longitudeE7', 'accuracy', 'altitude', 'velocity', 'heading'],
  ...['timestamp', 'timestampMs', 'serverTimestamp', 'deviceTimestamp', 'batteryCharging'],
])

function parseAttributes(location: Readonly<Record<string, unknown>>): SentAttributes {
  const [guess] = listIn(location['activity'])
  const [likeliest] = listIn(parseObject(guess)?.['activity'])
  return {
    ...otherScalars(location, USED_OF_RECORDS),
    charging: location['batteryCharging'],
    activity: parseActivity(parseObject(likeliest)?.['type']),
  }
}

/**
 * Converts ten-millionths to degrees. Divides, because multiplying by 1e-7 gives different last
 * digits. Some of Google's numbers beyond 180 degrees have overflowed 32 bits.
 */
function degrees(e7: unknown): unknown {
  const number = parseNumber(e7)
  if (number === undefined) return e7
  if (number > MOST_E7) return (number - 2 ** 32) / 1e7
  if (number < -MOST_E7) return (number + 2 ** 32) / 1e7
  return number / 1e7
}

const MOST_E7 = 180e7
