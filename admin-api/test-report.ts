import { TEST_REPORT_HEADER } from '../runtime/limits/auth-failures.ts'
import type { Clock } from '../runtime/clock.ts'
import { ApiError } from '../runtime/errors.ts'
import { errorEnvelope, succeed } from '../runtime/http/http.ts'
import { isInForce } from '../store/keys.ts'
import type { Store } from '../store/store.ts'
import { askIngest } from './ask-ingest.ts'
import {
  route,
  type AdminContext,
  type AdminRoute,
  type Input,
  type JsonSchema,
} from './http/admin-route.ts'
import type { Caller } from './http/caller.ts'
import { recordAction } from './http/record-action.ts'
import { anyObject, type InputOf } from './http/rule.ts'
import type { IngestAddresses } from './ingest-addresses.ts'
import { ownKeys, PASTED_KEY } from './keys/identify-key.ts'
import { objectOf } from '../runtime/openapi/json-schema.ts'
import type { RateLimit } from '../runtime/limits/rate-counters.ts'

/** Longer than the ingest API's time limit when the log does not respond. */
const ANSWERS_WITHIN_MS = 8_000

/**
 * Such a key is not used: the ingest API would count a failure against the address that all tests
 * come from.
 */
const NOT_IN_FORCE = new ApiError('UNAUTHORIZED', 'this API key is revoked, expired or replaced')

const TEST = {
  key: PASTED_KEY,
  report: anyObject({
    expected: 'report must be an object, as a device would send it',
    openapi: { type: 'object', additionalProperties: true, examples: [{ deviceId: 'my-device' }] },
  }).required(),
}

/** Sends a report as a device would, with a key of the account. */
export function reportTestRoutes({
  store,
  clock,
  ingest,
  pastedKeyLimit: limit,
}: {
  store: Store
  clock: Clock
  ingest: IngestAddresses
  pastedKeyLimit?: RateLimit | 'off' | undefined
}): AdminRoute[] {
  const ownKey = ownKeys({ store, limit })

  async function test(
    ctx: AdminContext,
    caller: Caller,
    { body: { key: secret, report } }: Input<object, InputOf<typeof TEST>>,
  ): Promise<void> {
    const grant = await ownKey(caller, secret)
    const { testSecret } = ingest
    const { status, body } = isInForce(grant, clock.now())
      ? await askIngest(ingest, '/api/v1/gps/submit', {
          secret,
          body: report,
          requestId: ctx.state.requestId,
          ...(testSecret !== undefined && { headers: { [TEST_REPORT_HEADER]: testSecret } }),
          withinMs: ANSWERS_WITHIN_MS,
        })
      : { status: NOT_IN_FORCE.status, body: errorEnvelope(NOT_IN_FORCE) }
    const subject = { kind: 'key', id: grant.key.id } as const
    const details = { status }
    await recordAction(ctx, caller, { action: 'key.tested', subject, details }, { store, clock })
    succeed(ctx, { status, body })
  }

  return [
    route({
      method: 'POST',
      path: '/test-report',
      summary: 'Sends a report with an API key of the account, as a device would',
      description: DESCRIPTION,
      needs: 'admin',
      body: TEST,
      bodyExample: {
        key: 'gps_…',
        report: { deviceId: 'tracker-7', latitude: 59.9139, longitude: 10.7522 },
      },
      answer: { data: ANSWERED },
      errors: ['NOT_FOUND'],
      handle: test,
    }),
  ]
}

const DESCRIPTION = `
Responds with 200 and the ingest API's response, whatever that is. An accepted report is a report like
any other. Nothing is sent unless the key belongs to the account, or if it is revoked or expired (401).
At most 10 times in 60 s.
`.trim()

const ANSWERED: JsonSchema = objectOf(
  {
    status: { type: 'integer', description: 'The HTTP status of the ingest API’s response' },
    body: {
      title: 'IngestAnswer',
      type: 'object',
      description: 'Its body',
      additionalProperties: true,
    },
  },
  { title: 'TestReportAnswer' },
)
