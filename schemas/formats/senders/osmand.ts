import { parseJsonObject, type AppRequest, type AppItem } from './app-request.ts'
import { parseFields, NO_FIELDS, type Fields } from './fields.ts'
import { isFlag } from '../no-fix.ts'
import { sentPoint } from '../sent-point.ts'
import { otherScalars, nonNegativeNumber, type SentAttributes } from '../sent-attributes.ts'
import { typeTexts } from '../typed-attributes.ts'
import {
  METRES_PER_SECOND,
  isSent,
  parseMeasurements,
  parseText,
  measureBattery,
  parseObject,
} from '../values.ts'

/**
 * OsmAnd and Traccar Client, which changed its format twice and keeps the URL: one reader for the
 * query, the form (https://www.traccar.org/osmand/) and the JSON.
 * @param named the device, if the request names it outside body and query.
 */
export function readOsmand(
  request: AppRequest,
  { named }: { named?: string | undefined } = {},
): readonly AppItem[] {
  if (isJson(request)) return readTraccarJson(request.body, { named })
  const form = formAndQuery(request)
  return ['malformed' in form ? form.malformed : readFields(form.fields, request, named)]
}

/** Some custom URLs set no Content-Type, but a form never starts with a brace. */
export function isJson({ mediaType, body }: Pick<AppRequest, 'mediaType' | 'body'>): boolean {
  if (body.length === 0) return false
  return body[0] === OPENING_BRACE || /^application\/(?:.+\+)?json$/.test(mediaType)
}

const OPENING_BRACE = 0x7b

/** The fields of form and query together; the form's take precedence. */
export function formAndQuery({
  body,
  query,
  mediaType,
}: AppRequest): { readonly fields: Fields } | { readonly malformed: AppItem } {
  if (body.length === 0) return { fields: query }
  if (mediaType.startsWith('multipart/')) {
    const message = 'send the fields in the URL, or as application/x-www-form-urlencoded'
    return { malformed: { kind: 'malformed', message, sent: undefined } }
  }
  const form = parseFields(body.toString('utf8'))
  return { fields: query === NO_FIELDS ? form : { ...query, ...form } }
}

function readFields(fields: Fields, { query }: AppRequest, named: string | undefined): AppItem {
  const deviceId = named ?? parseText(fields['id']) ?? parseText(fields['deviceid'])
  const [latitude, longitude] = readCoordinates(fields)
  const isPlaced = isSent(latitude) || isSent(longitude)
  const misnamed = isPlaced ? undefined : describeMisnamed(fields)
  if (misnamed !== undefined)
    return { kind: 'malformed', deviceId, message: misnamed, sent: fields }
  const { accuracy, altitude, speed, bearing, heading, batt: battery, timestamp } = fields
  const measured = parseMeasurements(
    { accuracy, altitude, speed, heading: bearing ?? heading, battery },
    { battery: 0.01, speed: speedFactor(query['speedUnit']) },
  )
  const attributes = typeTexts(otherScalars(fields, USED))
  // Traccar's protocol has `valid` for trackers without a fix.
  const isWithoutFix = fields['valid'] === '0' || isFlag(fields['valid'], false)
  if (!isPlaced || isWithoutFix) {
    const seen = { kind: 'seen', deviceId, battery: measured.battery, attributes } as const
    return isPlaced ? { ...seen, isWithoutFix: true } : seen
  }
  return sentPoint({ deviceId, latitude, longitude, timestamp, measured, attributes, sent: fields })
}

const USED: ReadonlySet<string> = new Set([
  ...['id', 'deviceid', 'lat', 'lon', 'location', 'timestamp', 'accuracy', 'altitude'],
  ...['speed', 'speedUnit', 'bearing', 'heading', 'batt'],
])

/** The message about coordinates under another format's names: otherwise they would vanish. */
export function describeMisnamed(fields: Readonly<Record<string, unknown>>): string | undefined {
  const name = MISNAMED.find((one) => isSent(fields[one]))
  return name && `lat and lon are missing: ${name} is not recognised as either`
}

const MISNAMED = ['latitude', 'longitude', 'lng', 'long', 'Lat', 'Lon', 'LAT', 'LON']

/** `lat` and `lon`, or `location=lat,lon`. */
function readCoordinates({ lat, lon, location }: Fields): (string | undefined)[] {
  if (isSent(lat) || isSent(lon) || location === undefined) return [lat, lon]
  const comma = location.indexOf(',')
  return comma === -1 ? [location] : [location.slice(0, comma), location.slice(comma + 1)]
}

/** NaN for an unknown unit, so that no speed is stored. */
function speedFactor(unit: string | undefined): number {
  if (!isSent(unit)) return METRES_PER_SECOND.kn
  const known = Object.entries(METRES_PER_SECOND).find(([name]) => name === unit)
  return known?.[1] ?? NaN
}

/**
 * The JSON of Traccar Client 9. The coordinates are in `coords`, or flat beside the time.
 * @param named the device, if the request names it outside the body.
 */
function readTraccarJson(
  body: Buffer,
  { named }: { named?: string | undefined } = {},
): readonly AppItem[] {
  const parsed = parseJsonObject(body)
  if ('malformed' in parsed) return [parsed.malformed]
  const { fields } = parsed
  const deviceId = named ?? parseText(fields['device_id'])
  const location = parseObject(fields['location'])
  if (location === undefined) {
    const isHeartbeat = !isSent(fields['location']) && deviceId !== undefined
    if (isHeartbeat) return [{ kind: 'seen', deviceId }]
    const message = isSent(fields['location'])
      ? 'location must be a JSON object'
      : 'the body must be {"device_id":"…","location":{…}}'
    return [{ kind: 'malformed', deviceId, message, sent: fields }]
  }
  const coords = parseObject(location['coords']) ?? location
  const { latitude, longitude, accuracy, altitude, speed, heading } = coords
  const measured = parseMeasurements({ accuracy, altitude, speed, heading })
  const battery = parseObject(location['battery']) ?? parseObject(fields['battery'])
  measureBattery(measured, battery?.['level'])
  const { timestamp } = location
  const attributes = readAttributes(location, battery)
  if (!isSent(latitude) && !isSent(longitude)) {
    return [{ kind: 'seen', deviceId, battery: measured.battery, attributes }]
  }
  return [
    sentPoint({ deviceId, latitude, longitude, timestamp, measured, attributes, sent: fields }),
  ]
}

type Properties = Readonly<Record<string, unknown>>

function readAttributes(location: Properties, battery: Properties | undefined): SentAttributes {
  const { odometer, event, is_moving: motion } = location
  const activity = parseObject(location['activity'])?.['type']
  const charging = battery?.['is_charging']
  return {
    ...otherScalars(parseObject(location['extras']) ?? {}),
    odometer: nonNegativeNumber(odometer),
    ...otherScalars({ event, motion, activity, charging }),
  }
}
