import {
  ApiError,
  ERRORS,
  invalidParams,
  unavailable,
  type ErrorIdentifier,
} from '../../runtime/errors.ts'
import { succeed } from '../../runtime/http/http.ts'
import { objectOf } from '../../runtime/openapi/json-schema.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { Logger } from '../../runtime/process/logger.ts'
import type { Store } from '../../store/store.ts'
import { askIngest, type IngestAnswer } from '../ask-ingest.ts'
import {
  pathParameter,
  route,
  type AdminContext,
  type AdminRoute,
  type Input,
} from '../http/admin-route.ts'
import type { OperatorCaller } from '../http/caller.ts'
import { recordAction } from '../http/record-action.ts'
import { parsedParts, type InputOf } from '../http/rule.ts'
import { isoTime, TIME } from '../http/views.ts'
import type { IngestAddresses } from '../ingest-addresses.ts'
import { OpenImports, type OpenImport } from './open-imports.ts'
import { isJsonObject } from '../../schemas/text/json-object.ts'

/** The ingest API has the same limit. */
const BODY_LIMIT_BYTES = 1024 * 1024
const MOST_REPORTS = 1_000
/** Long, because a batch may wait for a slot in the ingest API. */
const ANSWERS_WITHIN_MS = 25_000

const REPORTS = {
  reports: parsedParts(requireReports, {
    type: 'array',
    items: { type: 'object', additionalProperties: true },
    minItems: 1,
    maxItems: MOST_REPORTS,
  }).required(),
}

/** Imports of history from the console's own page, which has no key. */
export function importRoutes(deps: {
  store: Store
  clock: Clock
  logger: Logger
  ingest: IngestAddresses
  stopping: AbortSignal
}): AdminRoute[] {
  const { store, clock, ingest } = deps
  const imports = new OpenImports(deps)

  async function begin(ctx: AdminContext, caller: OperatorCaller): Promise<void> {
    const { id, keyId, expiresAt } = await imports.begin(caller)
    const details = { scopes: ['positions:import'], expiresAt: isoTime(expiresAt) }
    await record(ctx, caller, { action: 'import.begun', keyId, details })
    succeed(ctx, { id, expiresAt: isoTime(expiresAt) }, { status: 201 })
  }

  async function send(
    ctx: AdminContext,
    caller: OperatorCaller,
    { body }: Input<object, InputOf<typeof REPORTS>>,
  ): Promise<void> {
    const { secret } = requireOpen(ctx, caller)
    const { requestId } = ctx.state
    const answer = await askIngest(ingest, '/api/v1/gps/import', {
      secret,
      body,
      requestId,
      withinMs: ANSWERS_WITHIN_MS,
    })
    succeed(ctx, requireAccepted(answer))
  }

  async function end(ctx: AdminContext, caller: OperatorCaller): Promise<void> {
    const found = requireOpen(ctx, caller)
    await imports.end(found)
    await record(ctx, caller, { action: 'import.ended', keyId: found.keyId })
    succeed(ctx, null)
  }

  function requireOpen(ctx: AdminContext, caller: OperatorCaller): OpenImport {
    const found = imports.find(pathParameter(ctx, 'id'), caller)
    if (found === undefined) throw new ApiError('NOT_FOUND', 'this import has ended: start another')
    return found
  }

  function record(
    ctx: AdminContext,
    caller: OperatorCaller,
    {
      action,
      keyId,
      details = {},
    }: { action: string; keyId: string; details?: Readonly<Record<string, unknown>> },
  ): Promise<void> {
    const subject = { kind: 'key', id: keyId } as const
    return recordAction(ctx, caller, { action, subject, details }, { store, clock })
  }

  return [
    {
      method: 'POST',
      path: '/imports',
      summary: 'Starts an import of history',
      description: DESCRIPTION,
      needs: 'dispatcher session',
      answer: { status: 201, data: IMPORT },
      errors: ['CONFLICT'],
      handle: begin,
    },
    route({
      method: 'POST',
      path: '/imports/:id/positions',
      summary: 'Imports up to 1000 positions',
      description: 'Request and response are those of the ingest API’s `/api/v1/gps/import`.',
      needs: 'dispatcher session',
      body: REPORTS,
      bodyExample: {
        reports: [
          {
            deviceId: 'my-phone',
            latitude: 59.9139,
            longitude: 10.7522,
            timestamp: '2024-01-31T12:30:00Z',
          },
        ],
      },
      bodyLimitBytes: BODY_LIMIT_BYTES,
      answer: { data: ACCEPTED },
      handle: send,
    }),
    {
      method: 'DELETE',
      path: '/imports/:id',
      summary: 'Ends an import',
      needs: 'dispatcher session',
      answer: {},
      handle: end,
    },
  ]
}

const DESCRIPTION = `
For the console's page, which holds no API key; programs send to the ingest API with a key of the scope
\`positions:import\`. The service creates such a key for at most an hour, never returns it, and forwards the positions
with it. The key ends with the import, the session or the process. An account has at most 20 imports in progress: another one
ends one that has been unused for five minutes; if there is none, it is a 409.
`.trim()

const REPORTS_EXPECTED = `reports must be a list of 1 to ${MOST_REPORTS} objects`

function requireReports(value: unknown, field: string) {
  const isList = Array.isArray(value) && value.length > 0 && value.length <= MOST_REPORTS
  const reports = isList ? (value as unknown[]) : []
  const areObjects = reports.every(isJsonObject)
  if (isList && areObjects) return { made: reports }
  return { faults: [{ field, message: REPORTS_EXPECTED }] }
}

/**
 * Refusals of a whole batch that the page can act on; any other is an error between the services.
 */
const PASSED_ON: readonly ErrorIdentifier[] = [
  'INVALID_PARAMS',
  'PAYLOAD_TOO_LARGE',
  'RATE_LIMITED',
  'SERVICE_UNAVAILABLE',
]

/** @throws {ApiError} the refusal of the whole batch. */
function requireAccepted({ status, headers, body }: IngestAnswer): object {
  const { data, error, message } = body as Readonly<Record<string, unknown>>
  if (status === 200 && typeof data === 'object' && data !== null) return data
  const identifier = PASSED_ON.find((one) => one === error && ERRORS[one] === status)
  if (identifier === undefined || typeof message !== 'string') {
    throw unavailable('the ingest API rejected the import, please try again')
  }
  if (identifier === 'INVALID_PARAMS') throw invalidParams([{ field: 'reports', message }])
  const retryAfter = headers.get('retry-after')
  throw new ApiError(identifier, message, {
    ...(retryAfter !== null && { headers: { 'Retry-After': retryAfter } }),
  })
}

const IMPORT = objectOf(
  { id: { type: 'string' }, expiresAt: { ...TIME, description: 'When it expires' } },
  { title: 'Import' },
)

const ACCEPTED = objectOf(
  {
    accepted: { type: 'integer' },
    rejected: { type: 'integer' },
    results: {
      type: 'array',
      description: 'In the order of the reports',
      items: objectOf(
        {
          index: { type: 'integer' },
          recordId: { type: 'string' },
          receivedAt: TIME,
          error: { type: 'string' },
          message: { type: 'string' },
        },
        { title: 'ImportResult', optional: ['recordId', 'receivedAt', 'error', 'message'] },
      ),
    },
  },
  { title: 'ImportAnswer' },
)
