import { succeed } from '../runtime/http/http.ts'
import { REJECTION_ERRORS, type ReportRejected } from '../schemas/events/report-rejected.ts'
import type { Store } from '../store/store.ts'
import {
  route,
  type AdminContext,
  type AdminRoute,
  type Input,
  type JsonSchema,
} from './http/admin-route.ts'
import { answerPage, pageOf } from './http/answer-page.ts'
import type { Caller } from './http/caller.ts'
import { readCursor } from './http/cursor.ts'
import { PAGE_PARAMETERS, rangeParameters, requireRange, textParameter } from './http/query.ts'
import { choice, type InputOf } from './http/rule.ts'
import { isoTime, TIME } from './http/views.ts'
import { objectOf } from '../runtime/openapi/json-schema.ts'

const FILTER_PARAMETERS = {
  keyId: textParameter('keyId', 128).described('Only rejections of this key'),
  deviceId: textParameter('deviceId', 128).described('Only rejections that name this device'),
  error: choice(REJECTION_ERRORS, {
    expected: `error must be ${REJECTION_ERRORS.join(' or ')}`,
  }).described('Only rejections with this error'),
  ...rangeParameters('`receivedAt`'),
}

const REJECTION_PARAMETERS = { ...PAGE_PARAMETERS, ...FILTER_PARAMETERS }

/** Maximum number of keys and of devices named in a summary. */
const MOST_NAMED = 100

/** The rejected reports of the account's keys, with the reasons. */
export function rejectionRoutes({ store }: { store: Store }): AdminRoute[] {
  async function list(
    ctx: AdminContext,
    { accountId }: Caller,
    { query: { limit, cursor, ...filter } }: Input<InputOf<typeof REJECTION_PARAMETERS>>,
  ): Promise<void> {
    requireRange(filter)
    const list = { name: 'rejections', accountId, filter }
    const [after] = readCursor(cursor, list, ['text']) ?? []
    const items = await store.pageRejections({
      accountId,
      ...filter,
      limit: limit + 1,
      ...(after !== undefined && { after }),
    })
    await answerPage(ctx, {
      list,
      limit,
      items,
      placeOf: ({ rejectionId }) => [rejectionId],
      view: rejectionView,
    })
  }

  async function summarize(
    ctx: AdminContext,
    { accountId }: Caller,
    { query: filter }: Input<InputOf<typeof FILTER_PARAMETERS>>,
  ): Promise<void> {
    requireRange(filter)
    const { total, byError, byKey, byDevice } = await store.countRejections({
      accountId,
      ...filter,
    })
    succeed(ctx, {
      total,
      byError: rank(byError).map(([error, count]) => ({ error, count })),
      byKey: rank(byKey).map(([keyId, count]) => ({ keyId, count })),
      byDevice: rank(byDevice).map(([deviceId, count]) => ({ deviceId, count })),
    })
  }

  return [
    route({
      method: 'GET',
      path: '/rejections/summary',
      summary: 'Counts rejected reports by error, key and device',
      description: `Counts the reports in the list, for the ${MOST_NAMED} keys and devices with the most.`,
      needs: 'viewer',
      query: FILTER_PARAMETERS,
      answer: { data: REJECTION_SUMMARY },
      handle: summarize,
    }),
    route({
      method: 'GET',
      path: '/rejections',
      summary: 'Lists rejected reports, newest first',
      description: DESCRIPTION,
      needs: 'viewer',
      query: REJECTION_PARAMETERS,
      compressed: true,
      answer: { data: pageOf(REJECTION) },
      handle: list,
    }),
  ]
}

const DESCRIPTION = `
Reports sent with a key of the account, stored for 7 days, at most the latest 10 000. Beyond 20 rejections of
a key in one second only their number is stored: one entry without device and body, with the number in
\`count\`.
`.trim()

const REJECTION: JsonSchema = objectOf(
  {
    rejectionId: { type: 'string', description: 'ULID' },
    receivedAt: { ...TIME, description: 'When the report, or the last one counted, was received' },
    keyId: { type: 'string' },
    deviceId: { type: 'string', description: 'As sent in the report' },
    error: { enum: [...REJECTION_ERRORS] },
    message: { type: 'string', description: 'The message that the sender got' },
    body: { type: 'string', description: 'The start of the body as text, at most 2 KiB' },
    count: {
      type: 'integer',
      minimum: 1,
      description: 'The number of rejected reports that this entry covers',
    },
  },
  { title: 'Rejection', optional: ['deviceId', 'body'] },
)

/** A rejection as the API shows it everywhere. */
export function rejectionView(rejection: ReportRejected) {
  const { rejectionId, receivedAt, keyId, deviceId, error, message, body, count } = rejection
  return {
    rejectionId,
    receivedAt: isoTime(receivedAt),
    keyId,
    ...(deviceId !== undefined && { deviceId }),
    error,
    message,
    ...(body !== undefined && { body }),
    count,
  }
}

function rank<Name extends string>(counts: ReadonlyMap<Name, number>): [Name, number][] {
  return [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).slice(0, MOST_NAMED)
}

function countsBy(name: string, schema: JsonSchema): JsonSchema {
  return {
    type: 'array',
    description: 'The most frequent first',
    items: {
      title: `RejectionsBy${name.charAt(0).toUpperCase()}${name.slice(1)}`,
      type: 'object',
      required: [name, 'count'],
      properties: { [name]: schema, count: { type: 'integer', minimum: 1 } },
      additionalProperties: false,
    },
  }
}

const REJECTION_SUMMARY: JsonSchema = objectOf(
  {
    total: { type: 'integer', minimum: 0 },
    byError: countsBy('error', { enum: [...REJECTION_ERRORS] }),
    byKey: countsBy('keyId', { type: 'string' }),
    byDevice: countsBy('deviceId', { type: 'string' }),
  },
  { title: 'RejectionSummary' },
)
