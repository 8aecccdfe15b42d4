import { PASSWORD } from './admin-harness.ts'
import { UNKNOWN, type Refusal } from './refusal.ts'

const NOT_UTF8 = new Uint8Array([0x7b, 0xff, 0x7d])

/** Refusals of sign-in, and of calls about devices and what they have reported. */
export const DEVICE_REFUSALS: readonly Refusal[] = [
  ['there is nothing at this path: see the documentation', 'GET /nothing'],
  ['this path takes HEAD, GET', 'PUT /devices'],
  ['sign in, or send a valid API key as a Bearer token', 'GET /devices', undefined, 'nobody'],
  [
    'send the header X-Requested-With: console with this request',
    'POST /devices/labels',
    { deviceIds: ['tug'], add: ['a'] },
    'session without header',
  ],
  [
    'the e-mail or the password is wrong',
    'POST /session',
    { email: 'ana@example.org', password: 'wrong' },
    'nobody',
  ],
  [
    'password must be a text of 1 to 1024 characters',
    'POST /session',
    { email: 'ana@example.org', password: '' },
    'nobody',
  ],
  [
    'current must be your current password',
    'POST /session/password',
    { current: 'wrong', next: 'quite another long password' },
  ],
  [
    'next must be a text of 12 to 1024 characters',
    'POST /session/password',
    { current: PASSWORD, next: 'short' },
  ],
  ['status must be online or idle or offline', 'GET /devices?status=gone'],
  ['q must be a text of 1 to 128 characters', 'GET /devices?q='],
  [
    'bbox must be west,south,east,north in degrees, south not above north, for example 13.5,45,14,45.7',
    'GET /devices?bbox=1,2,3',
  ],
  [
    'sort must be one of deviceId, lastSeenAt, firstSeenAt, with a - before it to reverse the order',
    'GET /devices?sort=name',
  ],
  ['limit must be a whole number from 1 to 10000', 'GET /devices?limit=0'],
  [
    'cursor must be the nextCursor of the same list with the same parameters; after an upgrade of the service start again without one',
    'GET /devices?cursor=x',
  ],
  ['cursor must be the nextCursor of the previous page', 'GET /devices?cursor='],
  ['limit may appear only once', 'GET /devices?limit=1&limit=2'],
  ['q must be percent-encoded UTF-8', 'GET /devices?q=%ff'],
  [
    'colour is not a parameter of this call: it takes limit, cursor, status, q, label, keyId, bbox, sort, geofenceId, ruleId, at',
    'GET /devices?colour=red',
  ],
  [
    'label must be given at most 16 times, with different labels: texts of 1 to 64 characters, without control characters and without white space at their ends',
    'GET /devices?label=a&label=a',
  ],
  ['deviceId must be percent-encoded UTF-8 in the path', 'GET /devices/%ff'],
  ['there is no device with this deviceId', 'GET /devices/nobody'],
  [
    'the body must have one or more of name, disabled, expectedIntervalSeconds, labels',
    'PATCH /devices/tug',
    {},
  ],
  [
    'colour is not a field of this call: it takes name, disabled, expectedIntervalSeconds, labels',
    'PATCH /devices/tug',
    { colour: 1 },
  ],
  [
    'name must be a text of 1 to 100 characters, without control characters and without white space at its ends',
    'PATCH /devices/tug',
    { name: ' x' },
  ],
  [
    'name must not be or contain an API key: everybody who may read would see it',
    'PATCH /devices/tug',
    { name: UNKNOWN },
  ],
  ['disabled must be true or false', 'PATCH /devices/tug', { disabled: 'yes' }],
  [
    'expectedIntervalSeconds must be a number of seconds from 1 to 31622400, or null',
    'PATCH /devices/tug',
    { expectedIntervalSeconds: 0 },
  ],
  [
    'labels must be a list of at most 16 different labels: texts of 1 to 64 characters, without control characters and without white space at their ends',
    'PATCH /devices/tug',
    { labels: 'a' },
  ],
  ['the body must be well-formed JSON', 'PATCH /devices/tug', '{'],
  ['the body must be a JSON object', 'PATCH /devices/tug', '7'],
  ['the body is empty: send a JSON object', 'PATCH /devices/tug', ''],
  ['the body must be UTF-8', 'PATCH /devices/tug', NOT_UTF8],
  [
    'send the body as Content-Type: application/json',
    'PATCH /devices/tug',
    '{}',
    'session with text/plain',
  ],
  ['send the body without a Content-Encoding', 'PATCH /devices/tug', '{}', 'session with gzip'],
  ['the body must not be larger than 16384 bytes', 'PATCH /devices/tug', ' '.repeat(17_000)],
  [
    'deviceIds must be a list of 1 to 1000 different deviceIds',
    'POST /devices/labels',
    { deviceIds: [], add: ['a'] },
  ],
  ['add or remove must name a label', 'POST /devices/labels', { deviceIds: ['tug'] }],
  [
    'remove must not name "a", which add names too',
    'POST /devices/labels',
    { deviceIds: ['tug'], add: ['a'], remove: ['a'] },
  ],
  ['order must be asc or desc', 'GET /devices/tug/positions?order=up'],
  [
    'format must be json or geojson or gpx or csv or ndjson',
    'GET /devices/tug/positions?format=xml',
  ],
  [
    'limit requires format=json: the other formats contain the whole range between from and to',
    'GET /devices/tug/positions?format=gpx&limit=2',
  ],
  [
    'from must be an ISO 8601 date and time, for example 2026-01-31T12:30:00Z (a + is written %2B)',
    'GET /devices/tug/positions?from=yesterday',
  ],
  [
    'from must not be after to',
    'GET /devices/tug/positions?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z',
  ],
  ['there is no record with this id, or not yet', 'GET /positions/01KDVDNA00Z6JGGE5XXD5XW7P3'],
  ['points must be a whole number from 100 to 10000', 'GET /devices/tug/track?points=1'],
  [
    'keyId cannot be combined with at, because only the present is known: leave one of them out',
    'GET /devices?at=2026-01-01T00:00:00Z&keyId=k',
  ],
  [
    'at must be an ISO 8601 date and time, for example 2026-01-31T12:30:00Z (a + is written %2B)',
    'GET /devices?at=noon',
  ],
  [
    'radius is missing: send either geofenceId, or latitude, longitude and radius',
    'GET /visits?latitude=45&longitude=13',
  ],
  [
    'geofenceId cannot be combined with latitude, longitude and radius: send either geofenceId, or latitude, longitude and radius',
    'GET /visits?latitude=45&longitude=13&radius=50&geofenceId=yard',
  ],
  [
    'geofenceId names no geofence of this account: GET /geofences lists them',
    'GET /visits?geofenceId=yard',
  ],
  [
    'radius must be a number of metres from 10 to 1000000',
    'GET /visits?latitude=45&longitude=13&radius=5',
  ],
  [
    'from and to must be at most 31 days apart',
    'GET /visits?geofenceId=yard&from=2026-01-01T00:00:00Z&to=2026-03-01T00:00:00Z',
  ],
  [
    'from and to must be at most 400 days apart',
    'GET /devices/tug/track?from=2024-01-01T00:00:00Z&to=2026-01-01T00:00:00Z',
  ],
  [
    'step must be hour or day',
    'GET /devices/tug/activity?step=week&from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z',
  ],
  [
    'tz must be a time zone of the IANA database, for example Europe/Berlin',
    'GET /devices/tug/activity?step=day&tz=Mars&from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z',
  ],
  [
    'from and to must be at most 1000 steps apart',
    'GET /devices/tug/activity?step=hour&from=2020-01-01T00:00:00Z&to=2026-01-02T00:00:00Z',
  ],
  [
    'stopSeconds must be a whole number from 60 to 86400',
    'GET /devices/tug/trips?stopSeconds=1&from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z',
  ],
  [
    'stopMetres must be a whole number from 20 to 5000',
    'GET /devices/tug/trips?stopMetres=1&from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z',
  ],
  ['limit must be a whole number from 1 to 2000', 'GET /devices/tug/trips?limit=2001'],
  ['limit must be a whole number from 1 to 1000', 'GET /devices/tug/positions?limit=1001'],
  ['limit must be a whole number from 1 to 1000', 'GET /feeds/facts?limit=1001'],
  ['waitSeconds must be a whole number from 0 to 55', 'GET /feeds/facts?waitSeconds=56'],
  ['deviceId must be a text of 1 to 128 characters', 'GET /stream?deviceId='],
  ['by must be day or week or month', 'GET /reports/devices?by=year'],
  ['format must be json or csv', 'GET /reports/devices?format=xml'],
  [
    'zone must be a time zone of the IANA database, for example Europe/Berlin',
    'GET /reports/devices?zone=Mars',
  ],
  [
    'events must be one or more of position, device-status, fact, fact-handling, rejection, device-erased, separated by commas',
    'GET /stream?events=all',
  ],
  [
    'Last-Event-ID must be the id of an event of this stream, unchanged; leave it out to start with new events',
    'GET /stream',
    undefined,
    'session with Last-Event-ID',
  ],
  [
    'error must be INVALID_PARAMS or FORBIDDEN or PAYLOAD_TOO_LARGE or RATE_LIMITED',
    'GET /rejections?error=ODD',
  ],
  ['minutes must be a whole number from 1 to 1440', 'GET /system/history?minutes=0'],
]
