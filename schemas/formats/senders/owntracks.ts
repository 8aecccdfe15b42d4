import { parseJsonObject, type AppItem, type AppRequest } from './app-request.ts'
import { NO_FIELDS, type Fields } from './fields.ts'
import { nonNegativeNumber, otherScalars, type SentAttributes } from '../sent-attributes.ts'
import {
  parseTime,
  METRES_PER_SECOND,
  isSent,
  parseMeasurements,
  parseNumber,
  parseText,
} from '../values.ts'

/** 2001-01-01 in milliseconds, the epoch of Overland's times in its OwnTracks mode. */
const OVERLAND_EPOCH = Date.UTC(2001, 0, 1)
/** The last parts of topics whose messages are not locations. */
const SUBTOPICS = /^(?:event|waypoints?|status|step|beacon|dump|cmd)$/
/** Messages of the app or its broker that do not locate the phone. */
const OF_THE_APP = new Set(['status', 'card', 'lwt', 'waypoint', 'waypoints', 'cmd'])
const ENCRYPTED = 'the payload is encrypted: switch encryption off in the app'

type Message = Readonly<Record<string, unknown>>

type Options = {
  /** From Dawarich's clients: fields may be in the query, and speeds without a topic are in m/s. */
  readonly dawarich?: boolean
  /** The device, if the request names it outside the body. */
  readonly named?: string | undefined
}

/**
 * OwnTracks in HTTP mode (https://owntracks.org/booklet/tech/json/), and Overland in its OwnTracks
 * mode, which is recognised by its unencoded key: `Authorization: Basic <key>:`.
 */
export function readOwntracks(request: AppRequest, options: Options = {}): readonly AppItem[] {
  const queryFields = options.dawarich === true ? request.query : NO_FIELDS
  const { body } = request
  // Some apps send an empty body or an empty text.
  if (body.length === 0 || body.equals(EMPTY_TEXT)) return [itemOf(queryFields, request, options)]
  const parsed = parseJsonObject(body)
  if ('malformed' in parsed) return [parsed.malformed]
  return [itemOf(completeMessage(parsed.fields, queryFields), request, options)]
}

/** Completes the message in place: copying one of 8 MiB can take seconds. */
function completeMessage(message: Record<string, unknown>, queryFields: Fields): Message {
  for (const [name, value] of Object.entries(queryFields)) {
    if (!Object.hasOwn(message, name)) message[name] = value
  }
  return message
}

const EMPTY_TEXT = Buffer.from('""')

function itemOf(message: Message, request: AppRequest, { dawarich, named }: Options): AppItem {
  const deviceId = named ?? deviceIdOf(message, request)
  const { _type: type, lat, lon, tst } = message
  if (type === 'encrypted') {
    return { kind: 'malformed', deviceId, message: ENCRYPTED, sent: message }
  }
  if (type !== undefined && type !== 'location') {
    const isOfTracker = typeof type !== 'string' || !OF_THE_APP.has(type)
    return { kind: 'seen', deviceId, ...(!isOfTracker && { isOfTracker }) }
  }
  const unit = dawarich === true && message['topic'] === undefined ? 'mps' : 'kmh'
  const { acc: accuracy, alt: altitude, vel: speed, cog: heading, batt: battery } = message
  const measured = parseMeasurements(
    { accuracy, altitude, speed, heading, battery },
    { battery: 0.01, speed: METRES_PER_SECOND[unit] },
  )
  const attributes = readAttributes(message)
  const isPlace = isSent(lat) || isSent(lon)
  if (!isPlace && (type === undefined || isSent(attributes['alarm']))) {
    return { kind: 'seen', deviceId, battery: measured.battery, attributes }
  }
  return {
    kind: 'point',
    deviceId,
    latitude: lat,
    longitude: lon,
    time: parseTime(tst) + (request.literalBasic ? OVERLAND_EPOCH : 0),
    sentTime: tst,
    measured,
    attributes,
    sent: message,
  }
}

const CONNECTIONS = new Map<unknown, string>([
  ['w', 'wifi'],
  ['m', 'mobile'],
  ['o', 'offline'],
])
/** According to the battery's state; 0 is unknown. */
const CHARGING = new Map<unknown, boolean>([
  [1, false],
  [2, true],
  [3, true],
])

function readAttributes(message: Message): SentAttributes {
  const { vac, bs, conn, p, t } = message
  return {
    verticalAccuracy: nonNegativeNumber(vac),
    charging: CHARGING.get(parseNumber(bs)),
    connection: CONNECTIONS.get(conn),
    // From kilopascals.
    pressure: nonNegativeNumber(p, 10),
    ...otherScalars({ trigger: t }),
    ...otherScalars(message, { has: (name) => name.startsWith('_') || USED.has(name) }),
  }
}

/** Names reserved by the protocol and the Recorder, including photos and names of regions. */
const USED: ReadonlySet<string> = new Set([
  ...['lat', 'lon', 'acc', 'alt', 'vac', 'vel', 'cog', 'batt', 'bs', 'conn', 'p', 't', 'tst'],
  ...['tid', 'u', 'd', 'topic', 'created_at', 'source', 'randomId', 'image', 'imagename', 'face'],
  ...['inregions', 'inrids', 'rad', 'desc', 'isotst', 'isorcv', 'disptst', 'tzname', 'ghash'],
  ...['addr', 'cc', 'locality'],
])

/** `user/device` from the topic, or else from headers or query, or else the two letters of the tid. */
function deviceIdOf({ topic, tid }: Message, { query, header }: AppRequest): string | undefined {
  const segments = (parseText(topic) ?? '')
    .split('/')
    .flatMap((segment) => parseText(segment) ?? [])
  if (segments.length > 1 && SUBTOPICS.test(segments.at(-1) ?? '')) segments.pop()
  if (segments.length > 0) return segments.slice(-2).join('/')
  const user = parseText(header('x-limit-u')) ?? parseText(query['u'])
  const device = parseText(header('x-limit-d')) ?? parseText(query['d']) ?? parseText(tid)
  return parseText([user, device].filter(Boolean).join('/'))
}
