import type { ErrorIdentifier } from '../runtime/errors.ts'
import {
  openApiDocument,
  parametersOf,
  type OpenApiDocument,
  type Operation,
  type Parameter,
} from '../runtime/openapi/document.ts'
import { successSchema } from '../runtime/openapi/envelope.ts'
import { isRequired, jsonSchemaOf, objectSchemaOf } from '../runtime/openapi/json-schema.ts'
import { SERVICE_CALLS, SERVICE_TAG } from '../runtime/http/service-routes.ts'
import type { AdminRoute, JsonSchema } from './http/admin-route.ts'
import { rolesFrom } from './http/rights.ts'
import { schemasOf, type Rules } from './http/rule.ts'
import { WEBHOOKS } from './subscriptions/webhook-schemas.ts'
import { operationIdOf } from './operation-id.ts'

const DESCRIPTION = `For operators and their programs, to read and change devices, positions, API keys.

Sign in with \`POST /api/v1/session\`, which sets a cookie, or send an API key as
\`Authorization: Bearer gps_…\`. With the cookie, a call that changes something also needs the header
\`X-Requested-With: console\`, because browsers send cookies with requests that other sites cause; with a key
it does not. All calls concern the caller's account; anything of another account is a 404.

Lists return \`items\` and \`nextCursor\`; send the latter as \`cursor\`, with the same other parameters, for the
next page. Times are written \`YYYY-MM-DDTHH:mm:ss.sssZ\` and read as ISO 8601 with \`Z\`, an offset or
neither (then it is UTC). Parameters and fields that a call does not know are rejected.`

/** Tags by first path segment; every route must match one. */
const TAGS: Readonly<Record<string, { name: string; description: string }>> = {
  session: { name: 'Session', description: 'Signing in and out, and the signed-in operator' },
  operators: { name: 'Operators', description: 'The people who sign in' },
  accounts: { name: 'Accounts', description: 'Tenants; for platform operators' },
  keys: { name: 'Keys', description: 'API keys of devices, gateways and programs' },
  'test-report': { name: 'Test report', description: 'Testing a key' },
  devices: { name: 'Devices', description: 'Positions and statuses of devices' },
  labels: { name: 'Labels', description: 'Labels that group devices' },
  geofences: { name: 'Geofences', description: 'Areas that devices enter and leave' },
  rules: { name: 'Rules', description: 'Conditions of devices that cause events' },
  subscriptions: {
    name: 'Subscriptions',
    description: 'Notifications by webhook, chat or mail about what happens to devices',
  },
  positions: { name: 'Positions', description: 'Stored records' },
  places: { name: 'Places', description: 'Names of places' },
  reports: { name: 'Reports', description: 'Totals of devices by day, week or month' },
  visits: { name: 'Visits', description: 'Who was in an area' },
  facts: { name: 'Facts', description: 'Events of devices, with their times' },
  feeds: {
    name: 'Feeds',
    description: 'Events and positions in order, for programs that must not miss any',
  },
  imports: { name: 'Imports', description: 'Importing history from the console' },
  shares: { name: 'Shares', description: 'Links that show some devices for a limited time' },
  shared: { name: 'Shared', description: 'The view of people with such a link' },
  rejections: { name: 'Rejections', description: 'Rejected reports of known keys' },
  stream: { name: 'Stream', description: 'Live events' },
  audit: { name: 'Audit', description: 'Changes and their actors' },
  system: { name: 'System', description: 'The state of the service' },
  console: { name: 'Console', description: 'Settings for the console’s pages' },
}

const OWN_PAGE: Parameter = {
  name: 'X-Requested-With',
  in: 'header',
  required: false,
  description: 'Must be `console` where the session cookie is sent',
  schema: { type: 'string', examples: ['console'] },
}

const RESUME_AFTER: Parameter = {
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  description: 'The last `id` that the client saw; later events are sent first',
  schema: { type: 'string' },
}

/**
 * Generates the OpenAPI document of the admin API from its routes.
 * @throws {Error} for a route without a tag for its path, or two schemas with the same title.
 */
export function adminDocument(
  routes: readonly AdminRoute[],
  { prefix }: { prefix: string },
): OpenApiDocument {
  const tags = new Set(routes.map(tagOf))
  return openApiDocument({
    title: 'GPS admin API',
    description: DESCRIPTION,
    tags: [...tags, SERVICE_TAG],
    securitySchemes: {
      apiKey: {
        type: 'http',
        scheme: 'bearer',
        description: 'An API key (`gps_` and 38 characters) whose scopes cover the call',
      },
      share: {
        type: 'http',
        scheme: 'bearer',
        description: 'The token of a share (`gpsshare_` and 43 characters)',
      },
      session: {
        type: 'apiKey',
        in: 'cookie',
        name: 'gps_session',
        description:
          'Set by `POST /api/v1/session`; expires after 30 minutes without a request, at the latest after 12 hours',
      },
    },
    webhooks: WEBHOOKS,
    operations: [...routes.map((route) => describeRoute(route, prefix)), ...SERVICE_CALLS],
  })
}

function describeRoute(route: AdminRoute, prefix: string): Operation {
  const { method, path, summary, answer, body, bodyMayBeAbsent = false } = route
  const { status = 200, data, content } = answer
  const enveloped = content === undefined || data !== undefined
  return {
    method,
    path: prefix + path,
    operationId: operationIdOf(route),
    tag: tagOf(route).name,
    summary,
    description: [route.description, describeNeededRights(route)].filter(Boolean).join('\n\n'),
    parameters: parametersFor(route),
    ...(body !== undefined && {
      body: { required: !bodyMayBeAbsent, schema: bodySchema(route, body) },
    }),
    answer: {
      status,
      description: summary,
      content: {
        ...(enveloped && { 'application/json': successSchema(status, data) }),
        ...content,
      },
    },
    errors: errorsOf(route),
    security: securityOf(route),
  }
}

/** Rejects a change that changes no field. */
function bodySchema(
  { method, bodyExample, bodyOthersIgnored }: AdminRoute,
  rules: Rules,
): JsonSchema {
  return {
    ...objectSchemaOf(schemasOf(rules), { others: bodyOthersIgnored ? 'ignored' : 'refused' }),
    ...(method === 'PATCH' && { minProperties: 1 }),
    ...(bodyExample !== undefined && { examples: [bodyExample] }),
  }
}

function tagOf({ path }: AdminRoute) {
  const tag = TAGS[path.split('/')[1] ?? '']
  if (tag === undefined) throw new Error(`there is no tag for the path ${path}`)
  return tag
}

function parametersFor({ method, path, query = {}, needs, answer }: AdminRoute): Parameter[] {
  const changing = method !== 'GET' && needs !== 'nobody'
  return [
    ...parametersOf(path).map((name) => ({
      name,
      in: 'path' as const,
      required: true,
      schema: { type: 'string', minLength: 1 },
    })),
    ...Object.entries(schemasOf(query)).map(([name, rule]): Parameter => {
      const { description, ...schema } = jsonSchemaOf(rule)
      return {
        name,
        in: 'query',
        required: isRequired(rule),
        ...(typeof description === 'string' && { description }),
        schema,
      }
    }),
    ...(changing ? [OWN_PAGE] : []),
    ...(answer.content?.['text/event-stream'] === undefined || needs === 'share'
      ? []
      : [RESUME_AFTER]),
  ]
}

function errorsOf({ needs, path, body, errors = [] }: AdminRoute): ErrorIdentifier[] {
  return [
    ...errors,
    'SERVICE_UNAVAILABLE',
    ...(needs === 'nobody' ? [] : (['UNAUTHORIZED', 'RATE_LIMITED'] as const)),
    ...(needs === 'nobody' || needs === 'share' ? [] : (['FORBIDDEN'] as const)),
    ...(parametersOf(path).length > 0 || needs === 'share' ? (['NOT_FOUND'] as const) : []),
    ...(body === undefined ? [] : (['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const)),
  ]
}

function securityOf({ needs }: AdminRoute): string[] {
  switch (needs) {
    case 'nobody':
      return []
    case 'share':
      return ['share']
    case 'session':
    case 'dispatcher session':
    case 'admin session':
    case 'platform':
      return ['session']
    case 'viewer':
    case 'dispatcher':
    case 'admin':
      return ['apiKey', 'session']
  }
}

function describeNeededRights(route: AdminRoute): string {
  switch (route.needs) {
    case 'nobody':
      return 'Open to everybody.'
    case 'share':
      return 'For anyone who has the token of a share.'
    case 'session':
      return 'For operators who have signed in, not for API keys.'
    case 'dispatcher session':
      return 'For operators with the role dispatcher or admin who have signed in, not for API keys.'
    case 'admin session':
      return 'For operators with the role admin who have signed in, not for API keys.'
    case 'platform':
      return 'For operators of the platform who have signed in, not for API keys.'
    case 'viewer':
    case 'dispatcher':
    case 'admin': {
      const roles = rolesFrom(route.needs).join(' or ')
      const operator =
        route.needs === 'viewer' ? 'any operator' : `operators with the role ${roles}`
      const scopes = route.scope === undefined ? '`admin`' : `\`${route.scope}\` or \`admin\``
      return `For ${operator}, and for API keys with the scope ${scopes}.`
    }
  }
}
