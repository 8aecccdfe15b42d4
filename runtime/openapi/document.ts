import { ERROR_MEANINGS, ERRORS, type ErrorIdentifier } from '../errors.ts'
import { VERSION } from '../process/instance.ts'
import { SchemaComponents, type JsonSchema } from './json-schema.ts'
import { errorResponse, ERRORS_OF_EVERY_CALL, HEADERS } from './envelope.ts'

/** The parts of an OpenAPI 3.1 document that this code reads. */
export type OpenApiDocument = {
  readonly openapi: string
  readonly info: JsonSchema
  readonly paths: { readonly [path: string]: { readonly [method: string]: JsonSchema } }
  readonly components: { readonly [section: string]: { readonly [name: string]: JsonSchema } }
} & JsonSchema

/** A call of an HTTP API, for the OpenAPI document. */
export type Operation = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** The full path, with parameters in the router's syntax: `/api/v1/devices/:deviceId`. */
  readonly path: string
  readonly operationId: string
  readonly tag: string
  readonly summary: string
  readonly description?: string
  readonly parameters?: readonly Parameter[]
  /** The body of the request; JSON unless `mediaTypes` says otherwise. */
  readonly body?: {
    readonly required: boolean
    readonly schema: JsonSchema
    readonly mediaTypes?: readonly string[]
  }
  readonly answer: {
    readonly status: number
    readonly description: string
    readonly content: { readonly [mediaType: string]: JsonSchema }
  }
  /** Errors in addition to those of every call. */
  readonly errors: readonly ErrorIdentifier[]
  /** Security schemes, one of which is required; empty for public calls. */
  readonly security: readonly string[]
}

export type Parameter = {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly description?: string
  readonly schema: JsonSchema
}

export type Tag = { readonly name: string; readonly description: string }

/** Errors for requests that match no operation. */
const UNMATCHED = ['NOT_FOUND', 'METHOD_NOT_ALLOWED'] as const

/**
 * Builds an API's OpenAPI 3.1 document. `securitySchemes` must include those that the operations
 * name.
 */
export function openApiDocument({
  title,
  description,
  tags,
  securitySchemes,
  operations,
  webhooks = {},
}: {
  title: string
  /** Markdown; a section about every call follows it. */
  description: string
  tags: readonly Tag[]
  securitySchemes: { readonly [name: string]: JsonSchema }
  operations: readonly Operation[]
  /** The bodies of requests made by the service, by their type. */
  webhooks?: Readonly<Record<string, JsonSchema>>
}): OpenApiDocument {
  const components = new SchemaComponents()
  const paths: Record<string, Record<string, JsonSchema>> = {}
  for (const operation of operations) {
    const path = (paths[templatePath(operation.path)] ??= {})
    path[operation.method.toLowerCase()] = components.extract(describe(operation)) as JsonSchema
  }
  const identifiers = among([
    ...ERRORS_OF_EVERY_CALL,
    ...operations.flatMap(({ errors }) => errors),
  ])
  const responses = Object.fromEntries(
    identifiers.map((identifier) => [
      identifier,
      components.extract(errorResponse(identifier)) as JsonSchema,
    ]),
  )
  return {
    openapi: '3.1.1',
    info: {
      title,
      version: VERSION,
      description: `${description}\n\n${describeEveryCall(among([...identifiers, ...UNMATCHED]))}`,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags,
    paths,
    ...(Object.keys(webhooks).length > 0 && {
      webhooks: Object.fromEntries(
        Object.entries(webhooks).map(([type, schema]) => [
          type,
          components.extract(webhook(type, schema)),
        ]),
      ),
    }),
    'x-unmatched': Object.fromEntries(
      UNMATCHED.map((identifier) => [ERRORS[identifier], errorResponse(identifier)]),
    ),
    components: {
      schemas: components.schemas,
      responses,
      headers: { 'X-Request-Id': HEADERS['X-Request-Id'] },
      securitySchemes,
    },
  }
}

function webhook(type: string, schema: JsonSchema): JsonSchema {
  return {
    post: {
      operationId: `receive${type.replace(/(?:^|\.)(\w)/g, (_, first: string) => first.toUpperCase())}`,
      summary: `A request of the type ${type} to a webhook`,
      requestBody: { required: true, content: { 'application/json': { schema } } },
      responses: {
        '2XX': { description: 'It has arrived' },
        '4XX': {
          description: 'It is resent, or set aside (400, 413, 422); 410 ends delivery',
        },
      },
      security: [],
    },
  }
}

/** A path in OpenAPI's syntax: `/api/v1/devices/{deviceId}`. */
export function templatePath(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}')
}

/** The names of a path's parameters. */
export function parametersOf(path: string): string[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
}

function describe({
  operationId,
  tag,
  summary,
  description,
  parameters = [],
  body,
  answer,
  errors,
  security,
}: Operation): JsonSchema {
  const [example] = (body?.schema['examples'] ?? []) as readonly unknown[]
  const refusals = among([...ERRORS_OF_EVERY_CALL, ...errors])
  return {
    operationId,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && {
      requestBody: {
        required: body.required,
        content: Object.fromEntries(
          (body.mediaTypes ?? ['application/json']).map((mediaType) => [
            mediaType,
            // Postman's import only looks for an example here.
            { schema: body.schema, ...(example !== undefined && { example }) },
          ]),
        ),
      },
    }),
    responses: {
      [answer.status]: {
        description: answer.description,
        headers: { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } },
        content: contentOf(answer.content),
      },
      ...Object.fromEntries(
        refusals.map((identifier) => [ERRORS[identifier], reference(identifier)]),
      ),
    },
    security: security.map((scheme) => ({ [scheme]: [] })),
  }
}

function contentOf(content: Operation['answer']['content']): JsonSchema {
  return Object.fromEntries(
    Object.entries(content).map(([mediaType, schema]) => [
      // Tools expect the type without parameters.
      mediaType.replace(/;.*/, ''),
      { schema },
    ]),
  )
}

function reference(identifier: ErrorIdentifier): JsonSchema {
  return { $ref: `#/components/responses/${identifier}` }
}

function describeEveryCall(identifiers: readonly ErrorIdentifier[]): string {
  return [
    'Responses come in an envelope: `{success: true, code, message, data}`, or',
    '`{success: false, code, message, error}` where `error` is one of the identifiers below and `code` the',
    'HTTP status. Every response carries `X-Request-Id`. A GET call also accepts HEAD.',
    '',
    '| status | error | meaning |',
    '| --- | --- | --- |',
    ...identifiers.map(
      (identifier) =>
        `| ${ERRORS[identifier]} | \`${identifier}\` | ${ERROR_MEANINGS[identifier]} |`,
    ),
  ].join('\n')
}

/** Without duplicates, in the order of the table, which is by status. */
function among(identifiers: readonly ErrorIdentifier[]): ErrorIdentifier[] {
  return (Object.keys(ERRORS) as ErrorIdentifier[]).filter((identifier) =>
    identifiers.includes(identifier),
  )
}
