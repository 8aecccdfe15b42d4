import { CHARGING, readOverland } from '../senders/overland.ts'
import { parseObject } from '../values.ts'
import type { Format, FileItem, FilePoint } from './format.ts'
import { fieldItems } from './field-items.ts'
import { jsonElements, listIn } from './json-elements.ts'
import { namedPoint, USED } from './named-fields.ts'
import { readAsApp } from './read-as-app.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * GeoJSON: points with a time, and lines with a time for each point. Also the exports of Dawarich
 * and of this service, and Overland's lists of `locations`.
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
        if (name === undefined) return featureItems(parseObject(value) ?? {}, number)
        root[name] = value
        return []
      })
    }
    // A file may be a single feature, or a geometry.
    if ('geometry' in root) yield featureItems(root, 1)
    else if ('coordinates' in root || 'geometries' in root) {
      const { coordTimes, times } = root
      yield featureItems({ geometry: root, properties: { coordTimes, times } }, 1)
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
  '$.times',
]
/** Fields of Overland's features, which no other program has. */
const OF_OVERLAND = ['horizontal_accuracy', 'battery_state', 'locations_in_payload']
const TYPE =
  /"type"\s*:\s*"(?:Feature|FeatureCollection|GeometryCollection|(?:Multi)?(?:Point|LineString|Polygon))"/
const LIST = /^\{\s*"(?:features|locations)"\s*:\s*\[/

/** The points of a feature. */
export function featureItems(feature: Fields, place: number): FileItem[] {
  const properties = parseObject(feature['properties']) ?? {}
  const geometry = parseObject(feature['geometry'])
  if (geometry === undefined) return [{ kind: 'other', place, what: 'features without a geometry' }]
  const { type, coordinates } = geometry
  switch (type) {
    case 'GeometryCollection':
      return listIn(geometry['geometries']).flatMap((one) =>
        featureItems({ ...feature, geometry: one }, place),
      )
    case 'MultiPoint':
      return readPoints(listIn(coordinates), properties, place)
    case 'Point':
      if (OF_OVERLAND.some((name) => name in properties)) {
        return readAsApp(
          ({ body }) => readOverland(body),
          JSON.stringify({ locations: [feature] }),
          { place },
        )
      }
      return 'tst' in properties
        ? fieldItems(owntracksFields(coordinates, properties), place)
        : [{ kind: 'point', place, point: readPoint(coordinates, properties) }]
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

/**
 * GPX converters write the times of a line as `coordTimes`, or within coordinateProperties; others
 * as `times`.
 */
function timesOf(properties: Fields): unknown {
  const { coordTimes, coordinateProperties, times } = properties
  return coordTimes ?? parseObject(coordinateProperties)?.['times'] ?? times
}

/** Several positions with the same time are not a track. */
function readPoints(places: readonly unknown[], properties: Fields, place: number): FileItem[] {
  if (listIn(timesOf(properties)).length > 0) {
    return line(places, timesOf(properties), properties, place)
  }
  if (places.length === 1)
    return [{ kind: 'point', place, point: readPoint(places[0], properties) }]
  const message = 'a MultiPoint must have times, one for each of its points'
  return [{ kind: 'broken', place, message }]
}

function line(coordinates: unknown, times: unknown, properties: Fields, place: number): FileItem[] {
  const list = listIn(times)
  if (list.length === 0) return [{ kind: 'broken', place, message: 'a line must have coordTimes' }]
  const { deviceId, device_id, tracker_id } = properties
  const named = { deviceId, device_id, tracker_id }
  return listIn(coordinates).map((at, index) => {
    const point = readPoint(at, { ...named, timestamp: list[index] })
    return { kind: 'point', place, point } as const
  })
}

/** Converts features of the OwnTracks Recorder: `name` is the tid, the address comes from a map. */
function owntracksFields(coordinates: unknown, properties: Fields): Fields {
  const [lon, lat, alt] = listIn(coordinates)
  const { name, address, ...fields } = properties
  return { alt, tid: name, addr: address, ...fields, lat, lon }
}

function readPoint(coordinates: unknown, properties: Fields): FilePoint {
  const [longitude, latitude, altitude] = listIn(coordinates)
  const fields = { ...properties, latitude, longitude, ...(altitude !== undefined && { altitude }) }
  if (!('tracker_id' in properties)) return namedPoint(fields)
  const { attributes, ...point } = namedPoint(fields, { used: USED_BY_DAWARICH })
  const charging = CHARGING.get(properties['battery_status']) ?? attributes?.['charging']
  return { ...point, attributes: { ...attributes, charging } }
}

/** Dawarich's fields that are not attributes. */
const USED_BY_DAWARICH = new Set([
  ...USED,
  ...['battery_status', 'time_long', 'topic', 'ping', 'city', 'country'],
  ...['external_track_id', 'track_id', 'coordTimes'],
])
