import { CHARGING, readOverland } from '../senders/overland.ts'
import { knownNumber } from '../sent-attributes.ts'
import { isSent, measure, objectIn, type SentMeasurements } from '../values.ts'
import type { Format, FileItem, FilePoint } from './format.ts'
import { jsonElements, listIn } from './json-elements.ts'
import { namedPoint, ownPoint, USED } from './named-fields.ts'
import { readAsApp } from './read-as-app.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * GeoJSON: points with a time, and lines with a time for each of their points. Also the exports of
 * Dawarich and of this service, and Overland's lists of `locations`.
 */
export const geoJsonFormat: Format = {
  name: 'geojson',
  title: 'GeoJSON',
  places: 'element',
  each: { text: '"geometry"', what: 'features' },
  recognises: (head) => head.startsWith('{') && (TYPE.test(head) || LIST.test(head)),

  async *read(text) {
    const root: Record<string, unknown> = {}
    for await (const elements of jsonElements(text, [...LISTS, ...MEMBERS])) {
      yield elements.flatMap(({ number, value, name }) => {
        if (name === undefined) return featureItems(objectIn(value) ?? {}, number)
        root[name] = value
        return []
      })
    }
    // A file may be a single feature, or a geometry.
    if ('geometry' in root) yield featureItems(root, 1)
    else if ('coordinates' in root || 'geometries' in root) {
      yield featureItems({ geometry: root, properties: root }, 1)
    }
  },
}

const LISTS = ['$.features.*', '$.locations.*']
const MEMBERS = [
  '$.type',
  '$.geometry',
  '$.properties',
  '$.coordinates',
  '$.geometries',
  '$.coordTimes',
]
const TYPE =
  /"type"\s*:\s*"(?:Feature|FeatureCollection|GeometryCollection|(?:Multi)?(?:Point|LineString|Polygon))"/
const LIST = /^\{\s*"(?:features|locations)"\s*:\s*\[/

/** The points of a feature. */
export function featureItems(feature: Fields, place: number): FileItem[] {
  const properties = objectIn(feature['properties']) ?? {}
  const geometry = objectIn(feature['geometry'])
  if (geometry === undefined) return [{ kind: 'other', place, what: 'features without a geometry' }]
  const { type, coordinates } = geometry
  switch (type) {
    case 'GeometryCollection':
      return listIn(geometry['geometries']).flatMap((one) =>
        featureItems({ ...feature, geometry: one }, place),
      )
    case 'MultiPoint':
    case 'Point':
      if ('horizontal_accuracy' in properties || 'device_id' in properties) {
        return readAsApp(
          ({ body }) => readOverland(body),
          JSON.stringify({ locations: [feature] }),
          { place },
        )
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

function pointAt(coordinates: unknown, properties: Fields): FilePoint {
  const [longitude, latitude, altitude] = listIn(coordinates)
  const fields = { ...properties, latitude, longitude, ...(altitude !== undefined && { altitude }) }
  if (isSent(properties['deviceId']) || 'recordId' in properties) return ownPoint(fields)
  const { measured: usual, attributes, ...point } = namedPoint(fields, { used: USED_HERE })
  const { tracker_id: tracker, battery, battery_status, vertical_accuracy } = properties
  const measured: SentMeasurements = { ...usual }
  // Dawarich has percent, and 1 is one of them.
  if (tracker !== undefined) measure(measured, 'battery', battery, 0.01)
  return {
    ...point,
    measured,
    attributes: {
      ...attributes,
      verticalAccuracy: knownNumber(vertical_accuracy),
      charging: CHARGING.get(battery_status) ?? attributes?.['charging'],
    },
  }
}

/** Dawarich's names that are no attributes. */
const USED_HERE = new Set([
  ...USED,
  ...['battery_status', 'vertical_accuracy', 'time_long', 'topic', 'ping', 'city', 'country'],
  ...['external_track_id', 'track_id', 'coordTimes'],
])
