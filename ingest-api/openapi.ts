import {
  openApiDocument,
  type OpenApiDocument,
  type Operation,
  type Parameter,
} from '../runtime/openapi/document.ts'
import { successSchema } from '../runtime/openapi/envelope.ts'
import { objectSchemaOf, type JsonSchema } from '../runtime/openapi/json-schema.ts'
import { SERVICE_CALLS, SERVICE_TAG } from '../runtime/http/service-routes.ts'
import { REPORT_RULES } from '../schemas/report/position-report.ts'
import { APP_CALLS, APPS_SECURITY, APPS_TAG, EMPTY_TEXT } from './apps/api-calls.ts'
import { MOST_REPORTS } from './endpoints/native.ts'

const POSITIONS_TAG = { name: 'Positions', description: 'Reports of devices' }

const REPORT: JsonSchema = {
  title: 'PositionReport',
  ...objectSchemaOf(REPORT_RULES, { others: 'ignored' }),
  examples: [
    {
      deviceId: 'tracker-7',
      latitude: 59.9139,
      longitude: 10.7522,
      timestamp: '2026-01-31T12:30:00Z',
      accuracy: 5,
    },
  ],
}

/**
 * Any value may be a report of a batch, because a faulty one is rejected in its own result. So the
 * fields have descriptions but no constraints; code generators still learn their names.
 */
const REPORT_OF_BATCH: JsonSchema = {
  title: 'ReportOfBatch',
  description:
    'A `PositionReport`. One that breaks its rules does not break the request: it has a result with an error',
  properties: Object.fromEntries(
    Object.entries(REPORT['properties'] as Readonly<Record<string, JsonSchema>>).map(
      ([name, { description }]) => [name, { description }],
    ),
  ),
  examples: REPORT['examples'],
}

const ACKNOWLEDGED = {
  recordId: {
    type: 'string',
    pattern: '^[0-9A-HJKMNP-TV-Z]{26}$',
    description: 'ULID; the same for a repeat of the same report',
  },
  receivedAt: { type: 'string', format: 'date-time' },
} as const satisfies JsonSchema

/** The common parts of the reporting calls. */
const REPORTING = {
  method: 'POST',
  tag: POSITIONS_TAG.name,
  errors: [
    'UNAUTHORIZED',
    'FORBIDDEN',
    'PAYLOAD_TOO_LARGE',
    'UNSUPPORTED_MEDIA_TYPE',
    'RATE_LIMITED',
    'SERVICE_UNAVAILABLE',
  ],
  security: ['apiKey'],
} as const satisfies Partial<Operation>

const SUBMIT: Operation = {
  ...REPORTING,
  path: '/api/v1/gps/submit',
  operationId: 'submitPosition',
  summary: 'Submits one position report',
  description: `A 200 means that the report is durable and its record will appear exactly once, whatever
crashes. Resend a report after any 5xx or without a response: with a \`timestamp\` or an
\`Idempotency-Key\` the repeat gets the same \`recordId\` and is stored once.

\`null\` in an optional field means that it is absent. Fields besides those below are ignored. The API
key needs the scope \`positions:write\`; it may be limited to certain devices and to a
rate: \`RateLimit\` has the remainder. A body may be compressed
(\`Content-Encoding: gzip\`, \`deflate\` or \`br\`) and has at most 16 KiB after decompression.`,
  parameters: [
    idempotencyKey(
      'Makes repeats of a report without a `timestamp` recognisable: visible ASCII, without spaces',
    ),
  ],
  body: { required: true, schema: REPORT },
  answer: {
    status: 200,
    description: 'The report is durable',
    content: {
      'application/json': successSchema(200, {
        title: 'Acknowledgement',
        type: 'object',
        required: ['recordId', 'receivedAt'],
        properties: ACKNOWLEDGED,
        additionalProperties: false,
      }),
    },
  },
}

const INDEX = { index: { type: 'integer', minimum: 0, description: 'The index in `reports`' } }

/**
 * A single schema for both results: code generated for a union does not compile in every language.
 */
const REPORT_RESULT: JsonSchema = {
  title: 'ReportResult',
  type: 'object',
  description: '`recordId` and `receivedAt` of an accepted report, else `error` and `message`',
  required: ['index'],
  properties: {
    ...INDEX,
    ...ACKNOWLEDGED,
    error: { enum: ['INVALID_PARAMS', 'FORBIDDEN', 'RATE_LIMITED'] },
    message: { type: 'string', description: 'What was wrong and what to send instead' },
  },
  additionalProperties: false,
}

const BATCH: Operation = {
  ...REPORTING,
  path: '/api/v1/gps/batch',
  operationId: 'submitBatch',
  summary: `Submits up to ${MOST_REPORTS} position reports`,
  description: `Every report is judged separately and has its own result: a rejected report
does not affect the others. A 200 means that all accepted reports are durable. Reports beyond a limit
have the error \`RATE_LIMITED\` and may be sent again.

A body may be compressed (\`Content-Encoding: gzip\`, \`deflate\` or \`br\`) and has at most 1 MiB after
decompression.`,
  parameters: [
    idempotencyKey(
      'Makes repeats of the batch recognisable, each report by its index: visible ASCII, without spaces',
    ),
  ],
  body: {
    required: true,
    schema: {
      title: 'PositionReports',
      type: 'object',
      required: ['reports'],
      properties: {
        reports: { type: 'array', minItems: 1, maxItems: MOST_REPORTS, items: REPORT_OF_BATCH },
      },
      examples: [{ reports: REPORT['examples'] }],
    },
  },
  answer: {
    status: 200,
    description: 'A result for each report',
    content: {
      'application/json': successSchema(200, {
        title: 'BatchResult',
        type: 'object',
        required: ['accepted', 'rejected', 'results'],
        properties: {
          accepted: { type: 'integer', minimum: 0 },
          rejected: { type: 'integer', minimum: 0 },
          results: {
            type: 'array',
            description: 'In the order of the reports',
            items: REPORT_RESULT,
          },
        },
        additionalProperties: false,
      }),
    },
  },
}

const IMPORT: Operation = {
  ...BATCH,
  path: '/api/v1/gps/import',
  operationId: 'importHistory',
  summary: `Imports up to ${MOST_REPORTS} positions that were recorded earlier and elsewhere`,
  description: `Body, limits and response are those of a batch. The API key needs the scope \`positions:import\`, and every
report a \`timestamp\`. The positions are stored like any others and marked \`imported\`; live views do not show
them arriving. The \`recordId\` is derived from device, timestamp, latitude, longitude and an attribute \`alarm\` alone: the
same history in another format, or positions that an app has already sent, are repeats and change nothing; the response does
not distinguish them from new positions. Devices have no limit here, and keys have a separate one.`,
  parameters: [],
}

/** The OpenAPI document of the ingest API. */
export function ingestDocument(): OpenApiDocument {
  return openApiDocument({
    title: 'GPS ingest API',
    description: 'Accepts position reports from devices and acknowledges each once it is durable.',
    tags: [POSITIONS_TAG, APPS_TAG, SERVICE_TAG],
    securitySchemes: {
      apiKey: {
        type: 'http',
        scheme: 'bearer',
        description: 'An API key: `gps_` and 38 characters, created in the console',
      },
      ...APPS_SECURITY,
    },
    operations: [SUBMIT, BATCH, IMPORT, ...APP_CALLS, ...SERVICE_CALLS.map(orAPosition)],
  })
}

/** The root accepts positions too: OsmAnd and Traccar Client know no other path. */
function orAPosition(call: Operation): Operation {
  if (call.path !== '/') return call
  const osmand = APP_CALLS.find(({ operationId }) => operationId === 'getSendersOsmand')
  return {
    ...call,
    description:
      'With `id`, `deviceid`, `lat` or `location` in the query it is as `/api/v1/senders/osmand`.',
    parameters: osmand?.parameters ?? [],
    answer: { ...call.answer, content: { ...call.answer.content, ...EMPTY_TEXT } },
    errors: ['UNAUTHORIZED', 'SERVICE_UNAVAILABLE'],
  }
}

function idempotencyKey(description: string): Parameter {
  return {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description,
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
  }
}
