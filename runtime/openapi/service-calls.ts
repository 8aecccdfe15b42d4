import { successEnvelope } from './envelope.ts'
import type { JsonSchema } from './json-schema.ts'
import type { Operation } from './document.ts'
import { objectOf } from './json-schema.ts'

export const SERVICE_TAG = {
  name: 'Service',
  description:
    'For those who run the service: health, metrics and these documents. Open to everybody.',
}

/** The calls that every HTTP API has besides its own. */
export const SERVICE_CALLS: readonly Operation[] = [
  call('/', 'getService', 'What answers here, and in which version', {
    data: objectOf(
      { service: { type: 'string' }, version: { type: 'string' } },
      { title: 'Service' },
    ),
  }),
  call('/healthz', 'getHealth', 'Whether the process lives', { data: status('alive') }),
  {
    ...call('/readyz', 'getReadiness', 'Whether the service can do its work now', {
      data: status('ready'),
    }),
    description: 'A 503 names what is missing.',
    errors: ['SERVICE_UNAVAILABLE'],
  },
  {
    ...call('/metrics', 'getMetrics', 'Metrics in the text format of Prometheus', {
      content: { 'text/plain': { type: 'string' } },
    }),
    description: 'Rendered once a second at most. Not here where METRICS_PORT is set.',
    errors: ['NOT_FOUND'],
  },
  call('/openapi.json', 'getOpenApiDocument', 'This document', {
    content: {
      'application/json': {
        type: 'object',
        required: ['openapi'],
        properties: { openapi: { type: 'string' } },
      },
    },
  }),
  call('/docs', 'getDocs', 'This document as a page to read', {
    content: { 'text/html': { type: 'string' } },
  }),
]

function call(
  path: string,
  operationId: string,
  summary: string,
  answer: { data: JsonSchema } | { content: Readonly<Record<string, JsonSchema>> },
): Operation {
  const content =
    'content' in answer ? answer.content : { 'application/json': successEnvelope(200, answer.data) }
  return {
    method: 'GET',
    path,
    operationId,
    tag: SERVICE_TAG.name,
    summary,
    answer: { status: 200, description: summary, content },
    errors: [],
    security: [],
  }
}

function status(value: string): JsonSchema {
  return objectOf({ status: { const: value } })
}
