import type { JsonSchema } from '../../runtime/openapi/json-schema.ts'
import { parametersOf, type Operation, type Parameter } from '../../runtime/openapi/document.ts'
import type { SenderApp } from './sender-apps.ts'
import { APP_PATHS, type AppPath } from './app-routes.ts'

export const APPS_TAG = {
  name: 'Apps',
  description: `Reports of phones, trackers and gateways in their native formats. The key goes where the app can send
it: \`Authorization: Bearer\`, the password of Basic (the user's name is ignored), the path, or
\`key\` or \`api_key\` in the query.

**2xx**: no part of the request needs to be resent. Operators see reports that can never be accepted as
rejections; apps would otherwise resend them forever, and all later reports would wait. **503**: resend the
whole request after \`Retry-After\`; a report already stored is not stored again.
**401**: no valid key. The recordId is derived only from device, time, latitude, longitude and \`alarm\`.
Everything else that apps send becomes attributes; values that do not fit are omitted, as are network names.
Every path responds to HEAD with 200.`,
}

/** Ways to send a key, besides the path. */
export const APPS_SECURITY = {
  basic: {
    type: 'http',
    scheme: 'basic',
    description: 'An API key as the password; the user’s name is ignored',
  },
  keyInQuery: { type: 'apiKey', in: 'query', name: 'key', description: 'An API key' },
  apiKeyInQuery: { type: 'apiKey', in: 'query', name: 'api_key', description: 'An API key' },
} as const

type AppText = {
  readonly summary: string
  readonly description: string
  /** The query's parameters. */
  readonly parameters?: readonly Parameter[]
  readonly mediaTypes?: readonly string[]
  /** The response body; absent if it is empty. */
  readonly answer?: JsonSchema
}

const FORM = 'application/x-www-form-urlencoded'
const JSON_TYPE = 'application/json'
/** The media type makes it a separate response: OpenAPI cannot express that JSON may be missing. */
export const EMPTY_TEXT = {
  'text/plain': { type: 'string', maxLength: 0 },
} as const satisfies Readonly<Record<string, JsonSchema>>
const EMPTY_LIST: JsonSchema = { type: 'array', maxItems: 0, items: {} }
const RESULT_OK: JsonSchema = {
  title: 'ResultOk',
  type: 'object',
  required: ['result'],
  properties: { result: { const: 'ok' } },
  additionalProperties: false,
}
const OSMAND_FIELDS = [
  field('id', 'The device; also `deviceid`'),
  field('lat', 'Degrees'),
  field('lon', 'Degrees'),
  field('location', '`latitude,longitude`, instead of both'),
  field(
    'timestamp',
    'Seconds or milliseconds since 1970, or ISO 8601; absent: the time of receipt',
  ),
  field('accuracy', 'Metres'),
  field('altitude', 'Metres'),
  field('speed', 'Knots, or as `speedUnit` says'),
  field('speedUnit', '`kn`, `kmh`, `mph` or `mps`; only in the URL'),
  field('bearing', 'Degrees; also `heading`'),
  field('batt', 'Percent'),
]
const OWNTRACKS = {
  summary: 'Accepts messages from OwnTracks in HTTP mode',
  description: `Locations; other messages are heartbeats. The device is \`user/device\` from the topic,
else from \`X-Limit-U\` and \`X-Limit-D\` or \`u\` and \`d\`, else the tid. Without a valid key it responds with 503,
because OwnTracks discards a message after a 4xx. At most 8 MiB. With a key as \`Basic <key>:\`, not
encoded, it is Overland in its OwnTracks mode, and the response \`{"result":"ok"}\`.`,
  parameters: [field('u', 'The user'), field('d', 'The device')],
  mediaTypes: [JSON_TYPE],
  // Not `oneOf`: for it, openapi-generator's Go code needs an extra package.
  answer: { description: 'An empty list, or the object that Overland requires' },
} as const satisfies AppText
const OVERLAND = {
  summary: 'Accepts a batch from Overland',
  description:
    'GeoJSON features in `locations`, 10 000 within 2 MiB at most, and `current`. Features without a geometry are heartbeats.',
  mediaTypes: [JSON_TYPE],
  answer: RESULT_OK,
} as const satisfies AppText
const OSMAND = {
  summary: 'Accepts reports from OsmAnd and Traccar Client',
  description:
    'Fields of query and form together, or the JSON of Traccar Client 9. Without coordinates they are a heartbeat. At most 16 KiB.',
  parameters: OSMAND_FIELDS,
  mediaTypes: [FORM, JSON_TYPE],
} as const satisfies AppText

const TEXTS: Readonly<Record<string, AppText>> = {
  owntracks: OWNTRACKS,
  'dawarich-owntracks': {
    ...OWNTRACKS,
    description: `${OWNTRACKS.description} As in Dawarich, fields may also be in the query.`,
  },
  overland: OVERLAND,
  'dawarich-overland': OVERLAND,
  osmand: OSMAND,
  'dawarich-traccar': { ...OSMAND, answer: EMPTY_LIST },
  'traccar-forward': {
    summary: 'Accepts positions forwarded by a Traccar server',
    description:
      '`forward.type=json`: an object with `position` and `device`. A position that is not `valid`, or `outdated`, is a heartbeat. At most 16 KiB.',
    mediaTypes: [JSON_TYPE],
  },
  'the-things-stack': {
    summary: 'Accepts webhooks from The Things Stack',
    description:
      'The position is in `decoded_payload` under its usual names (`latitude` and `longitude`, `lat` and `lng`, also inside `gps_1` and the like); the device is the `dev_eui`. Without a position, or with one that the tracker marks as no fix, it is a heartbeat; an uplink without a position is rejected until the device has reported one. At most 64 KiB.',
    mediaTypes: [JSON_TYPE],
  },
  chirpstack: {
    summary: 'Accepts events from ChirpStack’s HTTP integration',
    description:
      'In JSON. The position is in `object`, under the same names as from The Things Stack; the device is `deviceInfo.devEui`. Heartbeats as from The Things Stack. At most 64 KiB.',
    mediaTypes: [JSON_TYPE],
  },
  phonetrack: {
    summary: 'Accepts reports from apps set up for Nextcloud’s PhoneTrack',
    description: `The logging URLs of PhoneTrack with the key instead of the session's token: \`app\` is osmand,
gpslogger, owntracks, ulogger, traccar, opengts, overland, locusmap or another one that sends \`lat\`, \`lon\` and
\`timestamp\`. \`/logGet\`, \`/logPost\` and \`/logPostMultiple\` work too, with or without \`/apps/phonetrack\` before
them. At most 2 MiB, and 10 000 points. μlogger may send a point with a photo (\`multipart/form-data\`, 8 MiB), which is
dropped.`,
    parameters: [
      field('lat', 'Degrees'),
      field('lon', 'Degrees'),
      field('timestamp', 'As in OsmAnd'),
      field('acc', 'Metres'),
      field('alt', 'Metres'),
      field('speed', 'Metres per second'),
      field('bearing', 'Degrees'),
      field('bat', 'Percent'),
    ],
    mediaTypes: [FORM, JSON_TYPE],
    answer: { description: 'The response that the app expects, if any' },
  },
}

const NO_HEAD = {
  query: {},
  parameters: {},
  header: () => '',
  mediaType: '',
  literalBasic: false,
}

/** The operations of the apps' paths, for the OpenAPI document. */
export const APP_CALLS: readonly Operation[] = APP_PATHS.flatMap((one) =>
  one.methods.map((method) => operation(one, method)),
)

function operation({ path, app }: AppPath, method: 'GET' | 'POST'): Operation {
  const { summary, description, parameters = [], mediaTypes = [], answer } = textOf(app)
  const places = parametersOf(path)
  const status = app.answer(NO_HEAD).status
  return {
    method,
    path,
    operationId: `${method.toLowerCase()}${toCamelCase(path)}`,
    tag: APPS_TAG.name,
    summary,
    description,
    parameters: [...places.map(pathParameter), ...parameters],
    ...(method === 'POST' && {
      body: {
        required: false,
        schema: { type: 'object', description: 'As sent by the app' },
        mediaTypes,
      },
    }),
    answer: {
      status,
      description: 'No part of the request needs to be sent again',
      content: {
        ...(answer !== undefined && { [JSON_TYPE]: answer }),
        ...((answer === undefined || app.name === 'phonetrack') && EMPTY_TEXT),
      },
    },
    errors: [...(app.never4xx === true ? [] : ['UNAUTHORIZED' as const]), 'SERVICE_UNAVAILABLE'],
    security: places.includes('key') ? [] : ['apiKey', ...Object.keys(APPS_SECURITY)],
  }
}

function textOf({ name }: SenderApp): AppText {
  const text = TEXTS[name]
  if (text === undefined) throw new Error(`${name} has no description`)
  return text
}

function field(name: string, description: string): Parameter {
  return { name, in: 'query', required: false, description, schema: { type: 'string' } }
}

function pathParameter(name: string): Parameter {
  const description = name === 'key' ? 'An API key' : undefined
  const schema = { type: 'string', minLength: 1 } as const
  return { name, in: 'path', required: true, schema, ...(description && { description }) }
}

/** `/api/v1/senders/osmand/:key` → `SendersOsmandKey`. */
function toCamelCase(path: string): string {
  const words = path.replace(/^\/api\/v1/, '').match(/\w+/g) ?? ['root']
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}
