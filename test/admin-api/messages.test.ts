import { beforeAll, expect, test } from '@jest/globals'
import { newApiKey } from '../../schemas/api-key.ts'
import { newShareToken } from '../../schemas/share-token.ts'
import { T0 } from '../samples.ts'
import {
  adminForAllTests,
  bearer,
  PASSWORD,
  startAdmin,
  type AdminHarness,
} from './admin-harness.ts'

const REPORTING = '(a key with the scope positions:write)'
const UNKNOWN = newApiKey()
const NOT_UTF8 = new Uint8Array([0x7b, 0xff, 0x7d])
const IN_AN_HOUR = new Date(T0 + 2 * 3_600_000).toISOString()

type Caller = keyof typeof callers
type Row = readonly [message: string, call: string, body?: unknown, caller?: Caller]

/** The messages that operators and programs get, each with a call that is answered with it. */
const REFUSALS: readonly Row[] = [
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
    'current must be the password until now',
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
    'cursor must be the nextCursor of the same list with the same parameters; after an upgrade of the service begin again without one',
    'GET /devices?cursor=x',
  ],
  ['cursor must be the nextCursor of the page before', 'GET /devices?cursor='],
  ['limit must be given once', 'GET /devices?limit=1&limit=2'],
  ['q must be percent-encoded UTF-8', 'GET /devices?q=%ff'],
  [
    'colour is not a parameter of this call: it takes limit, cursor, status, q, label, keyId, bbox, sort',
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
    'limit goes with format=json only: the other formats are the whole range, which from and to bound',
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
  [
    'events must be one or more of position, device-status, rejection, device-erased, separated by commas',
    'GET /stream?events=all',
  ],
  [
    'Last-Event-ID must be the id of an event of this stream, unchanged; leave it out to begin with new events',
    'GET /stream',
    undefined,
    'session with Last-Event-ID',
  ],
  [
    'error must be INVALID_PARAMS or FORBIDDEN or PAYLOAD_TOO_LARGE or RATE_LIMITED',
    'GET /rejections?error=ODD',
  ],
  ['minutes must be a whole number from 1 to 1440', 'GET /system/history?minutes=0'],
  [
    'scopes must be a list of one or more of positions:write, positions:import, positions:read, devices:read, admin',
    'POST /keys',
    { name: 'k', scopes: [] },
  ],
  [
    'expiresAt must be an ISO 8601 date and time in the future, for example 2030-01-31T12:30:00Z',
    'POST /keys',
    { name: 'k', expiresAt: '2000-01-01T00:00:00Z' },
  ],
  [
    'deviceIds must be a list of 1 to 1000 different deviceIds, or beginnings of such that end in *',
    'POST /keys',
    { name: 'k', deviceIds: [] },
  ],
  [
    'rateLimit must be a whole number of positions per 60 s, 1 or more',
    'POST /keys',
    { name: 'k', rateLimit: 0 },
  ],
  [
    'deviceIds does not go with the scope admin: leave one of the two out',
    'POST /keys',
    { name: 'k', scopes: ['admin'], deviceIds: ['tug'] },
  ],
  ['there is no key with this id', 'GET /keys/nobody'],
  ['this key has expired: set a later expiresAt first', 'POST /keys/spent/rotate'],
  ['this key is revoked for good: make another one', 'POST /keys/revoked/rotate'],
  [
    'graceSeconds must be a whole number of seconds from 0 to 2592000',
    'POST /keys/good/rotate',
    { graceSeconds: -1 },
  ],
  ['no key of this account has this secret', 'POST /keys/identify', { key: 'x' }],
  [
    'report must be an object, as a device would send it',
    'POST /test-report',
    { key: REPORTING, report: 7 },
  ],
  [
    'this service does not know where the ingest API is: set INGEST_INTERNAL_URL',
    'POST /test-report',
    { key: REPORTING, report: {} },
  ],
  ['this API key lacks the scope devices:read', 'GET /devices', undefined, 'reporting key'],
  ['this API key lacks the scope admin', 'PATCH /devices/tug', { name: 'x' }, 'bound key'],
  [
    'this call is for operators who have signed in, not for keys',
    'POST /operators',
    { email: 'x@example.org', role: 'viewer' },
    'admin key',
  ],
  ['this call is for operators of the platform', 'GET /accounts', undefined, 'admin'],
  [
    'role must be viewer or dispatcher or admin',
    'POST /operators',
    { email: 'x@example.org', role: 'king' },
  ],
  [
    'this e-mail is taken: send another one',
    'POST /operators',
    { email: 'ana@example.org', role: 'viewer' },
  ],
  ['there is no operator with this id', 'PATCH /operators/nobody', { role: 'viewer' }],
  [
    'only an operator of the platform may set platform',
    'POST /operators',
    { email: 'x@example.org', role: 'viewer', platform: true },
    'admin',
  ],
  [
    'admin must be an object with email and password, and nothing else',
    'POST /accounts',
    { name: 'x', admin: 7 },
  ],
  [
    'name is not a field of this call: it takes suspended; suspended must be true or false',
    'PATCH /accounts/nobody',
    { name: 'x' },
  ],
  [
    'your own account would be closed to you: ask somebody else',
    'PATCH /accounts/acc-1',
    { suspended: true },
  ],
  ['send the token of a share as a Bearer token', 'GET /shared'],
  ['this share does not exist, or not any more', 'GET /shared', undefined, 'unknown share'],
  [
    'deviceIds must be a list of 1 to 50 different ids of devices that have reported',
    'POST /shares',
    { deviceIds: ['nobody'], expiresAt: IN_AN_HOUR },
  ],
  [
    'names must be an object that has, for some of the deviceIds, the name that the link shows',
    'POST /shares',
    { deviceIds: ['tug'], expiresAt: IN_AN_HOUR, names: 7 },
  ],
  [
    'each of names must be a text of 1 to 100 characters, without control characters and without white space at its ends',
    'POST /shares',
    { deviceIds: ['tug'], expiresAt: IN_AN_HOUR, names: { tug: '' } },
  ],
  [
    'expiresAt must be an ISO 8601 date and time in the future, at most 30 days from now',
    'POST /shares',
    { deviceIds: ['tug'], expiresAt: '2000-01-01T00:00:00Z' },
  ],
  [
    'trailMinutes must be a whole number from 0 to 1440',
    'POST /shares',
    { deviceIds: ['tug'], expiresAt: IN_AN_HOUR, trailMinutes: -1 },
  ],
  ['there is no share with this id', 'DELETE /shares/nobody'],
  ['this call needs the role admin; yours is viewer', 'GET /audit', undefined, 'viewer'],
  [
    'this call needs the role dispatcher or admin; yours is viewer',
    'DELETE /shares/nobody',
    undefined,
    'viewer',
  ],
  ['there is no account with this id', 'PATCH /accounts/nobody', { suspended: true }],
  ['suspended must be true or false', 'PATCH /accounts/acc-2', { suspended: 7 }],
  [
    'email must be an e-mail address of at most 254 characters',
    'POST /operators',
    { email: 'x', role: 'viewer' },
  ],
  [
    'this API key is bound to devices: it only reads them',
    'PATCH /devices/tug',
    { name: 'x' },
    'bound admin key',
  ],
  [
    'key must be the secret of an API key, gps_ and 38 characters',
    'POST /keys/identify',
    { key: 7 },
  ],
  [
    'sign in on the page of the console; other pages send a key',
    'POST /session',
    { email: 'ana@example.org', password: 'x' },
    'another page',
  ],
  [
    'this would leave the account without an admin: give somebody else that right first',
    'DELETE /operators/op-1',
  ],
]

let harness: AdminHarness
let headers: Record<string, string>
const secrets: Record<string, string> = {}
const sessions: Record<string, Record<string, string>> = {}
adminForAllTests((given) => ({ harness, headers } = given), { operator: { platform: true } })

const callers = {
  session: () => headers,
  'session without header': () => ({ Cookie: headers['Cookie'] ?? '' }),
  'session with text/plain': () => ({ ...headers, 'Content-Type': 'text/plain' }),
  'session with gzip': () => ({ ...headers, 'Content-Encoding': 'gzip' }),
  'session with Last-Event-ID': () => ({ ...headers, 'Last-Event-ID': 'x' }),
  'another page': () => ({ 'Sec-Fetch-Site': 'cross-site' }),
  nobody: () => ({}),
  admin: () => sessions['admin'] ?? {},
  viewer: () => sessions['viewer'] ?? {},
  'admin key': () => bearer(secrets['admin'] ?? ''),
  'reporting key': () => bearer(secrets['reporting'] ?? ''),
  'bound key': () => bearer(secrets['bound'] ?? ''),
  'bound admin key': () => bearer(secrets['boundAdmin'] ?? ''),
  'unknown key': () => bearer(UNKNOWN),
  'unknown share': () => bearer(newShareToken()),
} satisfies Record<string, () => Record<string, string>>

beforeAll(async () => {
  for (const role of ['admin', 'viewer'] as const) {
    // In another account: in its own, op-1 must be the last admin.
    const { id } = await harness.createOperator({ role, accountId: 'acc-2' })
    sessions[role] = await harness.createSession(id)
  }
  await harness.project({ deviceId: 'tug' })
  const make = async (name: string, changes: Parameters<AdminHarness['createKey']>[0]) => {
    secrets[name] = (await harness.createKey(changes)).secret
  }
  await make('admin', {})
  await make('reporting', { id: 'good', scopes: ['positions:write'] })
  await make('bound', { scopes: ['devices:read'], deviceIds: ['tug'] })
  await make('boundAdmin', { deviceIds: ['tug'] })
  await make('expired', { id: 'spent', expiresAt: T0 })
  await make('revoked', { id: 'revoked', revokedAt: T0 })
})

// Not `test.each`, which takes a percent sign in a path for a placeholder.
for (const [message, call, body, caller = 'session'] of REFUSALS) {
  test(`"${message}" is the answer to ${call}`, async () => {
    const [method = '', path = ''] = call.split(' ')
    const isWithKey = JSON.stringify(body)?.includes(REPORTING) === true
    const sent = isWithKey ? { ...(body as object), key: secrets['reporting'] } : body
    const answer = await harness.api(method, path, {
      headers: callers[caller](),
      ...(sent !== undefined && { body: sent }),
    })
    expect(answer.body).toMatchObject({ success: false, message })
  })
}

test.each([
  ['keep the key, it is shown this once', 'POST /keys', { name: 'new' }],
  ['keep the key, it is shown this once', 'POST /keys/good/rotate', {}],
  [
    'keep the token, it is shown this once',
    'POST /shares',
    { deviceIds: ['tug'], expiresAt: IN_AN_HOUR },
  ],
  [
    'the password is changed',
    'POST /session/password',
    { current: PASSWORD, next: 'quite another long password' },
  ],
  ['the device and its records are gone from now on', 'DELETE /devices/tug', undefined],
])('"%s" is the answer to a successful %s', async (message, call, body) => {
  const [method = '', path = ''] = call.split(' ')
  const answer = await harness.api(method, path, { headers, ...(body && { body }) })
  expect(answer.body).toMatchObject({ success: true, message })
})

test('revoking a link says that it shows nothing', async () => {
  const body = { deviceIds: ['barge'], expiresAt: IN_AN_HOUR }
  await harness.project({ deviceId: 'barge' })
  const share = await harness.api('POST', '/shares', { headers, body })
  const { body: answer } = await harness.api(
    'DELETE',
    `/shares/${String(share.body.data?.['id'])}`,
    {
      headers,
    },
  )
  expect(answer).toMatchObject({ message: 'the link shows nothing any more' })
})

test('too many calls and too many failed sign-ins get the time of the next try', async () => {
  const limited = await startAdmin({ callLimit: { points: 1, seconds: 60 } })
  const session = await limited.createSession()
  const devices = () => limited.api('GET', '/devices', { headers: session })
  await devices()
  expect((await devices()).body).toMatchObject({
    error: 'RATE_LIMITED',
    message: 'at most 1 calls in 60 s are allowed for one caller: try again in 60 s',
  })
  const body = { email: 'ana@example.org', password: 'wrong' }
  const signIn = () => limited.api('POST', '/session', { body })
  const answers = []
  for (let time = 0; time < 11; time += 1) answers.push((await signIn()).body)
  expect(answers.at(-1)).toMatchObject({
    error: 'RATE_LIMITED',
    message: expect.stringMatching(/^too many failed sign-ins: try again in \d+ s$/) as unknown,
  })
})
