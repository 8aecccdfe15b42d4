import type { AdminRoute } from './http/admin-route.ts'

/** Names for which the verb and noun would be misleading. */
const NAMED: Readonly<Record<string, string>> = {
  'POST /session': 'signIn',
  'DELETE /session': 'signOut',
  'POST /session/password': 'changePassword',
  'GET /stream': 'followStream',
  'GET /shared/stream': 'followShared',
  'POST /keys/identify': 'identifyKey',
  'POST /test-report': 'sendTestReport',
  'POST /devices/labels': 'labelDevices',
  'GET /labels': 'listLabels',
  'GET /reports/devices': 'listDeviceReports',
  'PUT /geofences/by-external-id/:externalId': 'replaceGeofence',
  'POST /geofences/import': 'importGeofences',
}

const VERBS = {
  GET: 'get',
  POST: 'create',
  PUT: 'replace',
  PATCH: 'change',
  DELETE: 'delete',
} as const

/**
 * A call's operationId in the OpenAPI document, used by generated clients: `listDevices`, `getKey`,
 * `revokeKey`, `listDevicePositions`.
 */
export function operationIdOf({
  method,
  path,
  answer,
}: Pick<AdminRoute, 'method' | 'path' | 'answer'>): string {
  const named = NAMED[`${method} ${path}`]
  if (named !== undefined) return named
  const parts = path.split('/').slice(1)
  const nouns = parts.filter((part) => !part.startsWith(':'))
  const last = nouns.at(-1) ?? ''
  // A POST below a single resource is an action on it: /keys/:id/revoke.
  const isAction = method === 'POST' && parts.at(-2)?.startsWith(':')
  if (isAction) return last + nouns.slice(0, -1).map(singular).join('')
  const many = isList(answer.data)
  const verb = many ? 'list' : VERBS[method]
  return (
    verb + nouns.slice(0, -1).map(singular).join('') + (many ? capitalise(last) : singular(last))
  )
}

function isList(data: AdminRoute['answer']['data']): boolean {
  return Object.hasOwn(data?.['properties'] ?? {}, 'nextCursor')
}

function singular(noun: string): string {
  return capitalise(noun.endsWith('s') ? noun.slice(0, -1) : noun)
}

function capitalise(noun: string): string {
  return noun.charAt(0).toUpperCase() + noun.slice(1)
}
