import { ERROR_MEANINGS, ERRORS, type ErrorIdentifier } from '../errors.ts'
import { objectOf, type JsonSchema } from './json-schema.ts'

/** Errors of any call: requests that the HTTP parser rejects, and our own failures. */
export const ERRORS_OF_EVERY_CALL: readonly ErrorIdentifier[] = [
  'INVALID_PARAMS',
  'REQUEST_TIMEOUT',
  'HEADERS_TOO_LARGE',
  'SERVER_ERROR',
]

/** `const`, because some generators do not support the type `null` alone. */
const NOTHING: JsonSchema = { const: null, description: 'Always null' }

/** The envelope of a successful response; without a schema its `data` is null. */
export function successSchema(status: number, data: JsonSchema = NOTHING): JsonSchema {
  return objectOf({
    success: { const: true },
    code: { const: status },
    message: { type: 'string', description: 'For people' },
    data,
  })
}

/** Errors that may name fields: invalid fields, or fields changed concurrently. */
const WITH_DETAILS: readonly ErrorIdentifier[] = ['INVALID_PARAMS', 'CONFLICT']

/** The response of an error. */
export function errorResponse(identifier: ErrorIdentifier): JsonSchema {
  const schema = objectOf(
    {
      success: { const: false },
      code: { const: ERRORS[identifier] },
      message: { type: 'string', description: 'What was wrong and what to send instead' },
      error: { const: identifier },
      ...(WITH_DETAILS.includes(identifier) && { details: FAULTS }),
    },
    { title: identifier, optional: ['details'] },
  )
  return {
    description: ERROR_MEANINGS[identifier],
    headers: Object.fromEntries(
      HEADERS_OF_ERRORS.filter(({ of }) => of === undefined || of.includes(identifier)).map(
        ({ name }) => [name, HEADERS[name]],
      ),
    ),
    content: { 'application/json': { schema } },
  }
}

/** Headers of responses. */
export const HEADERS = {
  'X-Request-Id': {
    description:
      'Identifies this request in the service’s logs: the request’s X-Request-Id if it is 1 to 64 of A–Z a–z 0–9 _ . : -',
    required: true,
    schema: { type: 'string' },
  },
  'WWW-Authenticate': {
    description:
      'RFC 6750: `error="invalid_token"` where a token was sent, `error="insufficient_scope"` where the key lacks a scope',
    schema: { type: 'string' },
  },
  'Retry-After': {
    description: 'After how many whole seconds the same request may succeed',
    required: true,
    schema: { type: 'string', pattern: '^[1-9]\\d*$' },
  },
  Allow: {
    description: 'The methods that the path takes',
    required: true,
    schema: { type: 'string' },
  },
} as const satisfies Record<string, JsonSchema>

const HEADERS_OF_ERRORS: readonly {
  name: keyof typeof HEADERS
  of?: readonly ErrorIdentifier[]
}[] = [
  { name: 'X-Request-Id' },
  { name: 'WWW-Authenticate', of: ['UNAUTHORIZED', 'FORBIDDEN'] },
  { name: 'Retry-After', of: ['RATE_LIMITED', 'SERVICE_UNAVAILABLE'] },
  { name: 'Allow', of: ['METHOD_NOT_ALLOWED'] },
]

const FAULTS: JsonSchema = {
  type: 'array',
  description: 'Every field that is wrong, or that another change came before, each once',
  items: objectOf({ field: { type: 'string' }, message: { type: 'string' } }),
}
