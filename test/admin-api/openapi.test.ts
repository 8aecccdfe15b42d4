import { expect, test } from '@jest/globals'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { pino } from 'pino'
import { adminRoutes, createAdminApp, PREFIX, type AdminDependencies } from '../../admin-api/app.ts'
import type { AdminRoute } from '../../admin-api/http/admin-route.ts'
import { adminDocument } from '../../admin-api/openapi.ts'
import { operationIdOf } from '../../admin-api/operation-id.ts'
import { ERRORS } from '../../runtime/errors.ts'
import { createMetrics } from '../../runtime/process/metrics.ts'
import { callsServedBy, callsToldBy, optionalConstantsIn, problemsOf } from '../openapi-document.ts'
import { document, unopened } from './answers-conform.ts'

type Told = {
  readonly operationId: string
  readonly responses: Readonly<Record<string, { readonly content?: object }>>
  readonly security: readonly object[]
  readonly parameters?: readonly { readonly name: string; readonly schema: object }[]
  readonly requestBody?: {
    readonly required: boolean
    readonly content: {
      readonly 'application/json': { readonly schema: object; readonly example?: unknown }
    }
  }
}

function told(method: string, path: string): Told {
  return document.paths[PREFIX + path]?.[method] as unknown as Told
}

const route: AdminRoute = {
  method: 'GET',
  path: '/devices',
  summary: 'For a test',
  needs: 'viewer',
  answer: {},
  async handle() {},
}

test('the document is valid', async () => {
  expect(await problemsOf(document)).toEqual([])
})

test('no optional property is a constant, because generators write faulty Python for it', () => {
  expect(optionalConstantsIn(document)).toEqual([])
})

test('the OpenAPI document has exactly the calls that are served', () => {
  const app = createAdminApp({
    ...unopened,
    mode: 'embedded',
    logger: pino({ level: 'silent' }),
    metrics: createMetrics(),
    stopping: new AbortController().signal,
    trustProxy: 0,
    callLimit: 'off',
    authLimit: 'off',
    ready: async () => {},
  })
  expect(callsToldBy(document)).toEqual(callsServedBy(app))
  expect(callsToldBy(document).length).toBeGreaterThan(20)
})

test('every call has a unique name, a verb and a noun', () => {
  const names = Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .map(({ operationId }) => operationId)
  expect(new Set(names).size).toBe(names.length)
  for (const name of names) expect(name).toMatch(/^[a-z]+[A-Z]?\w+$/)
  expect(names).toEqual(
    expect.arrayContaining(['signIn', 'listDevicePositions', 'revokeKey', 'getKey', 'createKey']),
  )
})

test.each([
  ['GET', '/boats', true, 'listBoats'],
  ['GET', '/boats/:id', false, 'getBoat'],
  ['GET', '/boats/:id/crews', true, 'listBoatCrews'],
  ['POST', '/boats', false, 'createBoat'],
  ['POST', '/boats/:id/sink', false, 'sinkBoat'],
  ['PATCH', '/boats/:id', false, 'changeBoat'],
  ['DELETE', '/boats/:id', false, 'deleteBoat'],
] as const)('%s %s is named by verb and noun', (method, path, many, name) => {
  const answer = { data: { properties: many ? { nextCursor: {} } : {} } }
  expect(operationIdOf({ method, path, answer })).toBe(name)
})

test('no schema contains anything that client generators fail on', () => {
  const bad: string[] = []
  const look = (part: unknown, place: string, inChoice = false): void => {
    if (typeof part !== 'object' || part === null) return
    const { type, properties } = part as { type?: unknown; properties?: unknown }
    const isNothing = type === 'null' && !inChoice
    const isAnythingOrNull = Array.isArray(type) && type.includes('object') && !properties
    if (isNothing || isAnythingOrNull) bad.push(place)
    for (const [name, inner] of Object.entries(part)) {
      look(inner, `${place}/${name}`, place.endsWith('/anyOf'))
    }
  }
  look(document, '')
  expect(bad).toEqual([])
})

const always = [400, 408, 431, 500, 503]

test.each([
  ['get', '/devices', [401, 403, 429]],
  ['get', '/devices/{deviceId}', [401, 403, 404, 429]],
  ['post', '/keys', [401, 403, 413, 415, 429]],
  ['post', '/keys/{id}/revoke', [401, 403, 404, 429]],
  ['post', '/session', [401, 403, 413, 415, 429]],
  ['post', '/operators', [401, 403, 409, 413, 415, 429]],
])('%s %s documents the common errors, and %j', (method, path, others) => {
  const statuses = Object.keys(told(method, path).responses).map(Number)
  const errors = statuses.filter((status) => status >= 400)
  expect(errors).toEqual([...always, ...others].sort((a, b) => a - b))
})

test('each error of a call is in the table of errors, with its identifier', () => {
  const { responses = {} } = document.components
  for (const [identifier, response] of Object.entries(responses)) {
    const schema = document.components['schemas']?.[identifier] as {
      properties: Record<string, object>
    }
    expect(schema.properties).toMatchObject({
      code: { const: ERRORS[identifier as keyof typeof ERRORS] },
      error: { const: identifier },
      success: { const: false },
    })
    expect(response['description']).not.toBe('')
  }
  expect(Object.keys(responses).sort()).toEqual(
    Object.keys(ERRORS)
      .filter((identifier) => identifier !== 'METHOD_NOT_ALLOWED')
      .sort(),
  )
  expect(Object.keys(document['x-unmatched'] as object)).toEqual(['404', '405'])
})

test('every body has an example where Postman looks for it, valid by its schema', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  const bodies = Object.values(document.paths).flatMap((operations) =>
    Object.values(operations as Readonly<Record<string, Told>>).flatMap(
      ({ operationId, requestBody }) =>
        requestBody ? [{ operationId, ...requestBody.content['application/json'] }] : [],
    ),
  )
  expect(bodies.length).toBeGreaterThan(10)
  const { components } = document
  const without = bodies.filter(
    ({ schema, example }) =>
      example === undefined || !ajv.validate({ ...schema, components }, example),
  )
  expect(without.map(({ operationId }) => operationId)).toEqual([])
})

test.each([
  ['post', '/session', []],
  ['delete', '/session', [{ session: [] }]],
  ['get', '/accounts', [{ session: [] }]],
  ['get', '/devices', [{ apiKey: [] }, { session: [] }]],
  ['post', '/keys', [{ apiKey: [] }, { session: [] }]],
])('%s %s accepts the credentials %j', (method, path, security) => {
  expect(told(method, path).security).toEqual(security)
})

test('calls that change something document the header required with a cookie', () => {
  const names = (method: string, path: string) =>
    (told(method, path).parameters ?? []).map(({ name }) => name)
  expect(names('post', '/keys')).toContain('X-Requested-With')
  expect(names('delete', '/session')).toContain('X-Requested-With')
  expect(names('post', '/session')).not.toContain('X-Requested-With')
  expect(names('get', '/keys')).not.toContain('X-Requested-With')
})

test('numeric and time parameters have these types in the document', () => {
  const schemas = Object.fromEntries(
    (told('get', '/devices/{deviceId}/positions').parameters ?? []).map(({ name, schema }) => [
      name,
      schema,
    ]),
  )
  expect(schemas).toMatchObject({
    deviceId: { type: 'string' },
    limit: { type: 'integer', minimum: 1, maximum: 1000 },
    from: { type: 'string', format: 'date-time' },
    order: { enum: ['asc', 'desc'] },
  })
})

test('a body is required unless the call says otherwise', () => {
  expect(told('post', '/keys').requestBody?.required).toBe(true)
  expect(told('post', '/keys/{id}/rotate').requestBody?.required).toBe(false)
  expect(told('post', '/keys/{id}/revoke').requestBody).toBeUndefined()
})

test('by the document, a change without any field is invalid', () => {
  const schema = (method: string, path: string) =>
    told(method, path).requestBody?.content['application/json'].schema
  expect(schema('patch', '/devices/{deviceId}')).toMatchObject({ minProperties: 1 })
  expect(schema('post', '/keys')).not.toHaveProperty('minProperties')
})

test('a stream documents the header that resumes it', () => {
  const headers = (told('get', '/stream').parameters ?? []).map(({ name }) => name)
  expect(headers).toEqual(['deviceId', 'events', 'Last-Event-ID'])
})

test('media types are documented without their parameters', () => {
  const history = told('get', '/devices/{deviceId}/positions').responses['200']
  expect(Object.keys(history?.content ?? {}).sort()).toEqual([
    'application/geo+json',
    'application/gpx+xml',
    'application/json',
    'application/x-ndjson',
    'text/csv',
  ])
})

test('a route whose path belongs to no tag cannot be documented', () => {
  const boats = { ...route, path: '/boats' }
  expect(() => adminDocument([boats], { prefix: PREFIX })).toThrow('/boats')
})

test('responses outside the envelope are documented beside it, or alone', () => {
  const file = { content: { 'text/csv': { type: 'string' } } }
  const list = (answer: AdminRoute['answer']) =>
    adminDocument([{ ...route, answer }], { prefix: PREFIX }).paths['/api/v1/devices']?.['get']
  const both = { ...file, data: { type: 'string' } }
  expect(list(file)).toHaveProperty(['responses', '200', 'content', 'text/csv'])
  expect(list(file)).not.toHaveProperty(['responses', '200', 'content', 'application/json'])
  expect(list(both)).toHaveProperty(['responses', '200', 'content', 'application/json'])
  expect(list(both)).toHaveProperty(['responses', '200', 'content', 'text/csv'])
})

test('listing the routes calls none of their dependencies', () => {
  const untouchable = new Proxy({} as AdminDependencies['store'], {
    get(_, name) {
      throw new Error(`${String(name)} was asked for`)
    },
  })
  const deps = { ...unopened, store: untouchable }
  expect(() => adminRoutes(deps)).not.toThrow()
})
