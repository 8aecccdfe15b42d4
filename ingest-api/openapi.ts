import { openApiDocument, type OpenApiDocument } from '../runtime/openapi/document.ts'
import { successEnvelope } from '../runtime/openapi/envelope.ts'
import { objectSchemaOf } from '../runtime/openapi/json-schema.ts'
import { OPERATIONS_CALLS, OPERATIONS_TAG } from '../runtime/openapi/operations-calls.ts'
import type { Operation } from '../runtime/openapi/operation.ts'
import { REPORT_RULES } from '../schemas/position-report.ts'

const POSITIONS_TAG = { name: 'Positions', description: 'What devices report' }

const SUBMIT: Operation = {
  method: 'POST',
  path: '/api/v1/gps/submit',
  operationId: 'submitPosition',
  tag: POSITIONS_TAG.name,
  summary: 'Submits one position report',
  description: `A 200 means that the report is durable and its record will appear exactly once, whatever
crashes. Send a report again after any 5xx or when no answer came: with a \`timestamp\` or an
\`Idempotency-Key\` the repeat gets the same \`recordId\` and is stored once.

\`null\` in an optional field means that it is absent. Fields besides those below are ignored. The API
key needs the scope \`positions:write\`; it may be limited to certain devices, and in
how much it may report: \`RateLimit\` tells what is left.`,
  parameters: [
    {
      name: 'Idempotency-Key',
      in: 'header',
      required: false,
      description:
        'Makes repeats of a report without a `timestamp` recognisable: visible ASCII, without spaces',
      schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
    },
  ],
  body: {
    required: true,
    schema: {
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
    },
  },
  answer: {
    status: 200,
    description: 'The report is durable',
    content: {
      'application/json': successEnvelope(200, {
        title: 'Acknowledgement',
        type: 'object',
        required: ['recordId', 'receivedAt'],
        properties: {
          recordId: {
            type: 'string',
            pattern: '^[0-9A-HJKMNP-TV-Z]{26}$',
            description: 'ULID; the same for a repeat of the same report',
          },
          receivedAt: { type: 'string', format: 'date-time' },
        },
        additionalProperties: false,
      }),
    },
  },
  errors: [
    'UNAUTHORIZED',
    'FORBIDDEN',
    'PAYLOAD_TOO_LARGE',
    'UNSUPPORTED_MEDIA_TYPE',
    'RATE_LIMITED',
    'SERVICE_UNAVAILABLE',
  ],
  security: ['apiKey'],
}

/** The OpenAPI document of the ingest API. */
export function ingestDocument(): OpenApiDocument {
  return openApiDocument({
    title: 'GPS ingest API',
    description: 'Takes position reports from devices and acknowledges each once it is durable.',
    tags: [POSITIONS_TAG, OPERATIONS_TAG],
    securitySchemes: {
      apiKey: {
        type: 'http',
        scheme: 'bearer',
        description: 'An API key: `gps_` and 38 characters, made in the back office',
      },
    },
    operations: [SUBMIT, ...OPERATIONS_CALLS],
  })
}
