import { CHARGING, overland } from '../../../ingest-api/apps/overland.ts'
import {
  knownNumber,
  otherScalars,
  type SentAttributes,
} from '../../../ingest-api/apps/sent-attributes.ts'
import { timeIn } from '../../../ingest-api/apps/times.ts'
import {
  measure,
  measureBattery,
  objectIn,
  textIn,
  type Measured,
} from '../../../ingest-api/apps/values.ts'
import type { Format, FileItem, Point } from './format.ts'
import { jsonElements, listIn, type Element } from './json-elements.ts'
import { ownPoint } from './own-fields.ts'
import { readAsApp } from './read-as-app.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * GeoJSON: points with a time, and lines with a time for each of their points. Also the exports of
 * Dawarich and of this service, and Overland's lists of `locations`.
 */
export const geoJson: Format = {
  name: 'geojson',
  title: 'GeoJSON',
  places: 'element',
  each: { text: '"geometry"', what: 'features' },
  recognises: (head) =>
    head.startsWith('{') &&
    (/"FeatureCollection"/.test(head) ||
      (/^\{\s*"(?:features|locations)"\s*:\s*\[/.test(head) && /"Feature"/.test(head))),

  async *read(text) {
    for await (const features of jsonElements(text, ['$.features.*', '$.locations.*'])) {
      yield features.flatMap(itemsOf)
    }
  },
}

function itemsOf({ number: place, value }: Element): FileItem[] {
  const feature = objectIn(value) ?? {}
  const properties = objectIn(feature['properties']) ?? {}
  const geometry = objectIn(feature['geometry'])
  if (geometry === undefined) return [{ kind: 'other', place, what: 'features without a geometry' }]
  const { type, coordinates } = geometry
  switch (type) {
    case 'Point':
      if ('horizontal_accuracy' in properties || 'device_id' in properties) {
        return readAsApp(overland, JSON.stringify({ locations: [feature] }), { place })
      }
      return [{ kind: 'point', place, point: pointAt(coordinates, properties) }]
    case 'LineString':
      return line(coordinates, timesOf(properties), properties, place)
    case 'MultiLineString': {
      const [lines, times] = [listIn(coordinates), listIn(timesOf(properties))]
      return lines.flatMap((one, index) => line(one, times[index], properties, place))
    }
    default:
      return [{ kind: 'other', place, what: `features of type ${String(type)}` }]
  }
}

/** A GPX converter writes the times of a line as `coordTimes`, newer ones within coordinateProperties. */
function timesOf(properties: Fields): unknown {
  return properties['coordTimes'] ?? objectIn(properties['coordinateProperties'])?.['times']
}

function line(coordinates: unknown, times: unknown, properties: Fields, place: number): FileItem[] {
  const list = listIn(times)
  if (list.length === 0) return [{ kind: 'broken', place, message: 'a line must have coordTimes' }]
  const { deviceId, device_id, tracker_id } = properties
  const named = { deviceId, device_id, tracker_id }
  return listIn(coordinates).map((at, index) => {
    const point = pointAt(at, { ...named, timestamp: list[index] })
    return { kind: 'point', place, point } as const
  })
}

function pointAt(coordinates: unknown, properties: Fields): Point {
  const [longitude, latitude, altitude = properties['altitude']] = listIn(coordinates)
  const fields = { ...properties, latitude, longitude, altitude }
  if ('deviceId' in properties || 'recordId' in properties) return ownPoint(fields)
  const measured: Measured = {}
  measure(measured, 'altitude', altitude)
  measure(measured, 'accuracy', properties['accuracy'])
  measure(measured, 'speed', properties['speed'] ?? properties['velocity'])
  measure(
    measured,
    'heading',
    properties['course'] ?? properties['bearing'] ?? properties['heading'],
  )
  const { tracker_id: tracker, battery, time, date } = properties
  // Dawarich has percent, and 1 is one of them.
  if (tracker !== undefined) measure(measured, 'battery', battery, 0.01)
  else measureBattery(measured, battery)
  const sentTime = properties['timestamp'] ?? time ?? date
  const deviceId = textIn(properties['device_id']) ?? textIn(tracker)
  const attributes = attributesIn(properties)
  return { deviceId, latitude, longitude, time: timeIn(sentTime), sentTime, measured, attributes }
}

/** Dawarich's names, and those of the measurements and times above. */
const USED = new Set(
  (
    'latitude longitude altitude accuracy speed velocity course bearing heading battery battery_status ' +
    'vertical_accuracy timestamp time date time_long device_id tracker_id topic ping city country ' +
    'external_track_id track_id'
  ).split(' '),
)

function attributesIn(properties: Fields): SentAttributes {
  const { battery_status: battery, vertical_accuracy: verticalAccuracy } = properties
  return {
    ...otherScalars(properties, USED),
    verticalAccuracy: knownNumber(verticalAccuracy),
    charging: CHARGING.get(battery),
  }
}
