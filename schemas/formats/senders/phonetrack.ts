import { isUtf8 } from 'node:buffer'
import { parseIso8601 } from '../../text/iso-8601.ts'
import { limitPoints, parseJsonObject, type AppItem, type AppRequest } from './app-request.ts'
import { ILL_FORMED, type Fields } from './fields.ts'
import { sentPoint } from '../sent-point.ts'
import { otherScalars } from '../sent-attributes.ts'
import { typeTexts } from '../typed-attributes.ts'
import {
  METRES_PER_SECOND,
  PERCENT,
  isSent,
  parseMeasurements,
  parseNumber,
  parseText,
  type SentMeasurements,
} from '../values.ts'
import { formAndQuery, isJson, describeMisnamed, readOsmand } from './osmand.ts'
import { readOverland } from './overland.ts'
import { readOwntracks } from './owntracks.ts'

/** Placeholders for the device's name in the URLs that PhoneTrack's pages show. */
const PLACEHOLDERS: ReadonlySet<string> = new Set(['yourname', 'devicename', 'name'])

type Sent = Readonly<Record<string, unknown>>
type Named = { readonly named: string | undefined }

/**
 * The logging URLs of Nextcloud's PhoneTrack, with the key instead of the session's token, so that
 * a phone reporting there only needs another host. The last part of the path names the device.
 */
export function readPhonetrack(request: AppRequest): readonly AppItem[] {
  return (READERS.get(request.parameters['app'] ?? '') ?? readAny)(request, named(request))
}

type Reader = (request: AppRequest, named: Named) => readonly AppItem[]

/** Readers for loggers whose format is more than named fields; `readAny` reads the others. */
const READERS = new Map<string, Reader>([
  ['owntracks', readOwntracks],
  ['traccar', readOsmand],
  ['overland', ({ body }, named) => readOverland(body, named)],
  ['opengts', readOpengts],
  ['multiple', readMultiple],
])

function named({ parameters: { device } }: { parameters: Fields }): Named {
  const name = parseText(device)
  return { named: name !== undefined && PLACEHOLDERS.has(name) ? undefined : name }
}

/** OsmAnd, GPSLogger, Locus Map, μlogger, PhoneTrack's own app and any other configurable logger. */
function readAny(request: AppRequest, { named: deviceId }: Named): readonly AppItem[] {
  const parsed = isJson(request) ? parseJsonObject(request.body) : parseAnyForm(request)
  if ('malformed' in parsed) return [parsed.malformed]
  const fields: Sent = parsed.fields
  const { lat: latitude, lon: longitude } = fields
  const measured = readMeasurements(fields)
  const attributes = typeTexts(otherScalars(fields, USED))
  if (!isSent(latitude) && !isSent(longitude)) {
    const message = describeMisnamed(fields)
    if (message !== undefined) return [{ kind: 'malformed', deviceId, message, sent: fields }]
    const seen = { kind: 'seen', deviceId, battery: measured.battery } as const
    // μlogger signs in: that is not a reading.
    return [fields['action'] === 'auth' ? seen : { ...seen, attributes }]
  }
  const timestamp = firstOf(fields, TIMES)
  return [
    sentPoint({ deviceId, latitude, longitude, timestamp, measured, attributes, sent: fields }),
  ]
}

/** Form and query; the form may be multipart, as μlogger's is with a photo. */
function parseAnyForm(request: AppRequest): ReturnType<typeof formAndQuery> {
  if (request.mediaType !== 'multipart/form-data') return formAndQuery(request)
  const form = multipartFields(request.body, request.header('content-type'))
  if (form !== undefined) return { fields: { ...request.query, ...form } }
  const message = 'the body must be well-formed multipart/form-data'
  return { malformed: { kind: 'malformed', message, sent: undefined } }
}

const TIMES = ['timestamp', 'tst', 'time', 'datetime']
const USED: ReadonlySet<string> = new Set([
  ...['lat', 'lon', 'speed', ...TIMES, 'acc', 'accuracy', 'alt', 'altitude'],
  ...['bearing', 'heading', 'cog', 'bat', 'batt', 'battery'],
])

/**
 * `points`, each a list: latitude, longitude, time, altitude, accuracy, battery, satellites, the logger's
 * name, speed, bearing.
 */
function readMultiple({ body }: AppRequest, { named: deviceId }: Named): readonly AppItem[] {
  const parsed = parseJsonObject(body)
  if ('malformed' in parsed) return [parsed.malformed]
  const { points } = parsed.fields
  const sent = parsed.fields
  if (!Array.isArray(points)) {
    return [{ kind: 'malformed', deviceId, message: 'points must be a list of lists', sent }]
  }
  if (points.length === 0) return [{ kind: 'seen', deviceId }]
  const bounded = limitPoints(points)
  const items: AppItem[] = []
  let malformedPoints = 0
  for (const point of bounded.points) {
    if (!Array.isArray(point) || point.length < 2) {
      malformedPoints += 1
      continue
    }
    const [latitude, longitude, timestamp, alt, acc, bat, sat, , speed, bearing] =
      point as unknown[]
    const measured = readMeasurements({ alt, acc, bat, speed, bearing })
    const attributes = { satellites: parseNumber(sat) }
    items.push(
      sentPoint({ deviceId, latitude, longitude, timestamp, measured, attributes, sent: point }),
    )
  }
  if (malformedPoints > 0) {
    const message = `${malformedPoints} of the points are not lists that start with latitude and longitude`
    items.push({ kind: 'malformed', deviceId, message, sent: undefined })
  }
  return items.concat(bounded.beyond)
}

function readOpengts(request: AppRequest, { named }: Named): readonly AppItem[] {
  const form = formAndQuery(request)
  if ('malformed' in form) return [form.malformed]
  const { gprmc, id, dev, alt, batt } = form.fields
  const deviceId = named ?? parseText(id) ?? parseText(dev)
  const attributes = typeTexts(otherScalars(form.fields, USED_OF_OPENGTS))
  if (gprmc === undefined) return [{ kind: 'seen', deviceId, attributes }]
  const { isVoid, latitude, longitude, time, knots, course } = parseGprmc(gprmc)
  const measured = parseMeasurements(
    { altitude: alt, speed: knots, heading: course, battery: batt },
    { battery: 0.01, speed: METRES_PER_SECOND.kn },
  )
  if (isVoid) {
    return [{ kind: 'seen', deviceId, battery: measured.battery, attributes, isWithoutFix: true }]
  }
  const point = { deviceId, latitude, longitude, time, sentTime: gprmc, measured, attributes }
  return [{ kind: 'point', ...point, sent: form.fields }]
}

const USED_OF_OPENGTS: ReadonlySet<string> = new Set(['gprmc', 'id', 'dev', 'acct', 'alt', 'batt'])

function readMeasurements(fields: Sent): SentMeasurements {
  return parseMeasurements(
    {
      accuracy: firstOf(fields, ['acc', 'accuracy']),
      altitude: firstOf(fields, ['alt', 'altitude']),
      speed: fields['speed'],
      heading: firstOf(fields, ['bearing', 'heading', 'cog']),
      battery: firstOf(fields, ['bat', 'batt', 'battery']),
    },
    PERCENT,
  )
}

function firstOf(fields: Sent, names: readonly string[]): unknown {
  return fields[names.find((name) => isSent(fields[name])) ?? '']
}

/** Degrees followed by minutes: `4807.038` is 48° 7.038′. */
const ANGLE = /^(\d{1,3})(\d\d(?:\.\d+)?)$/
const CLOCK = /^(\d\d)(\d\d)(\d\d(?:\.\d+)?)$/
const DAY = /^(\d\d)(\d\d)(\d\d)$/

/** A position from an NMEA 0183 RMC sentence; unreadable values are undefined, an unreadable time is NaN. */
type Gprmc = {
  /** The receiver has no fix: the other values are old or made up. */
  readonly isVoid: boolean
  readonly latitude: number | undefined
  readonly longitude: number | undefined
  readonly time: number
  readonly knots: number | undefined
  readonly course: number | undefined
}

function parseGprmc(sentence: string): Gprmc {
  const [, clock = '', status, latitude, south, longitude, west, knots, course, day = ''] =
    sentence.split(',')
  return {
    isVoid: status === 'V',
    latitude: degrees(latitude, south === 'S'),
    longitude: degrees(longitude, west === 'W'),
    time: timeOf(clock, day),
    knots: parseNumber(knots),
    course: parseNumber(course),
  }
}

function degrees(text: string | undefined, isNegative: boolean): number | undefined {
  const [, whole, minutes] = ANGLE.exec(text ?? '') ?? []
  if (whole === undefined || minutes === undefined) return undefined
  // About 0.1 m, finer than the minutes.
  const angle = Math.round((Number(whole) + Number(minutes) / 60) * 1e6) / 1e6
  return isNegative ? -angle : angle
}

function timeOf(clock: string, day: string): number {
  const [, hours, minutes, seconds] = CLOCK.exec(clock) ?? []
  const [, date, month, year] = DAY.exec(day) ?? []
  return parseIso8601(`20${year}-${month}-${date}T${hours}:${minutes}:${seconds}Z`) ?? NaN
}

const LINE_END = '\r\n'
const HEADERS_END = '\r\n\r\n'
/** The headers of a part are a line or two; anything longer is the start of its content. */
const HEADERS_BYTES = 1024
/** A logger sends a dozen. */
const MOST_PARTS = 100

/**
 * The fields of a body of `multipart/form-data` (RFC 7578), without its files; if a field is repeated, the
 * first counts. Undefined if the body is malformed, or ends too early.
 */
export function multipartFields(body: Buffer, contentType: string): Fields | undefined {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]+)"|([^\s;"]+))/i.exec(contentType) ?? []
  const boundary = quoted ?? plain
  if (boundary === undefined || boundary.length > 70) return undefined
  const first = body.indexOf(`--${boundary}`)
  if (first === -1) return undefined
  const delimiter = Buffer.from(`${LINE_END}--${boundary}`)
  const fields: Record<string, string> = {}
  let from = first + delimiter.length - LINE_END.length
  for (let parts = 0; parts < MOST_PARTS; parts += 1) {
    if (body.subarray(from, from + 2).equals(DASHES)) return fields
    const to = body.indexOf(delimiter, from)
    if (to === -1) return undefined
    addField(fields, body.subarray(from, to))
    from = to + delimiter.length
  }
  return undefined
}

const DASHES = Buffer.from('--')

/** @param part from the end of the delimiter's text to the next delimiter. */
function addField(fields: Record<string, string>, part: Buffer): void {
  const length = part.subarray(0, HEADERS_BYTES).indexOf(HEADERS_END)
  if (length === -1) return
  const headers = part.toString('utf8', 0, length)
  if (/;\s*filename\*?=/i.test(headers)) return
  const name = /;\s*name="?([^"\r\n;]*)/i.exec(headers)?.[1]
  // This also keeps the properties that every object has from being overwritten.
  if (name === undefined || fields[name] !== undefined) return
  const content = part.subarray(length + HEADERS_END.length)
  fields[name] = isUtf8(content) ? content.toString('utf8') : ILL_FORMED
}
