import { ApiError, invalidParams } from '../../runtime/errors.ts'
import { succeed } from '../../runtime/http/http.ts'
import { isListed } from '../../schemas/devices/device-id.ts'
import type { Store } from '../../store/store.ts'
import {
  pathParameter,
  route,
  type AdminContext,
  type AdminRoute,
  type Input,
} from '../http/admin-route.ts'
import { answerPage, pageOf } from '../http/answer-page.ts'
import { deviceList, type Caller } from '../http/caller.ts'
import { readCursor } from '../http/cursor.ts'
import { requireDevice } from './require-device.ts'
import { EXPORT_FORMATS, EXPORT_NAMES, exportPositions } from './export/export-positions.ts'
import {
  DEFAULT_LIMIT,
  LIMIT_PARAMETER,
  PAGE_PARAMETERS,
  rangeParameters,
  requireRange,
} from '../http/query.ts'
import { choice, type InputOf } from '../http/rule.ts'
import { RECORD, recordView } from '../http/views.ts'

const FORMATS = ['json', ...EXPORT_NAMES] as const

const HISTORY_PARAMETERS = {
  ...rangeParameters('`timestamp`'),
  order: choice(['asc', 'desc'], { expected: 'order must be asc or desc' }).described(
    'By `timestamp`, and at equal times in the order in which the service received them, from the oldest (`asc`) or from the newest (`desc`). `desc` is the default of json, `asc` that of the other formats: a track is expected in the order of time',
  ),
  limit: LIMIT_PARAMETER.described('1 to 1000, by default 100; with json only'),
  cursor: PAGE_PARAMETERS.cursor.described(
    'The `nextCursor` of the previous page, with the same other parameters; with json only',
  ),
  format: choice(FORMATS, { expected: `format must be ${FORMATS.join(' or ')}` })
    .withDefault('json')
    .described('json is a page of the list; the others are the whole range as a file'),
}

type HistoryQuery = InputOf<typeof HISTORY_PARAMETERS>

/** Stored records: a device's history, and single records by id. */
export function positionRoutes({ store }: { store: Store }): AdminRoute[] {
  async function history(
    ctx: AdminContext,
    caller: Caller,
    { query }: Input<HistoryQuery>,
  ): Promise<void> {
    const { accountId } = caller
    const deviceId = pathParameter(ctx, 'deviceId')
    const { limit = DEFAULT_LIMIT, cursor, format, order, ...between } = query
    const range = { ...between, order: order ?? (format === 'json' ? 'desc' : 'asc') }
    requireRange(range)
    if (format !== 'json') {
      refuseWithFile(query)
      const { settings } = await requireDevice(store, caller, deviceId)
      return exportPositions(ctx, {
        store,
        format: EXPORT_FORMATS[format],
        device: { deviceId, ...settings },
        range: { accountId, deviceId, ...range },
      })
    }
    if (!isListed(deviceList(caller), deviceId)) await requireDevice(store, caller, deviceId)
    const list = { name: 'positions', accountId, filter: { deviceId, ...range } }
    const [timestamp, partition, offset] =
      readCursor(cursor, list, ['number', 'number', 'number']) ?? []
    const items = await store.pagePositions({
      accountId,
      deviceId,
      ...range,
      limit: limit + 1,
      ...(timestamp !== undefined &&
        partition !== undefined &&
        offset !== undefined && { after: { timestamp, origin: { partition, offset } } }),
    })
    if (items.length === 0) await requireDevice(store, caller, deviceId)
    await answerPage(ctx, {
      list,
      limit,
      items,
      placeOf: ({ timestamp, origin }) => [timestamp, origin.partition, origin.offset],
      view: recordView,
    })
  }

  async function show(ctx: AdminContext, caller: Caller): Promise<void> {
    const { accountId } = caller
    const recordId = pathParameter(ctx, 'recordId')
    const record = await store.findPosition({ accountId, recordId })
    if (record === undefined || !isListed(deviceList(caller), record.deviceId)) {
      throw new ApiError('NOT_FOUND', 'there is no record with this id, or not yet')
    }
    succeed(ctx, recordView(record))
  }

  const scope = 'positions:read'
  return [
    route({
      method: 'GET',
      path: '/devices/:deviceId/positions',
      summary: 'Lists a device’s records by time',
      needs: 'viewer',
      scope,
      description: HISTORY_DESCRIPTION,
      query: HISTORY_PARAMETERS,
      compressed: true,
      answer: { data: pageOf(RECORD), content: FILES },
      handle: history,
    }),
    {
      method: 'GET',
      path: '/positions/:recordId',
      summary: 'Returns a record',
      needs: 'viewer',
      scope,
      answer: { data: RECORD },
      handle: show,
    },
  ]
}

const HISTORY_DESCRIPTION = `
As a list in pages, or, with \`format\`, the whole range as a file. A file is streamed without
a Content-Length: if its connection breaks, it is not the whole range.
`.trim()

const FILES = Object.fromEntries(
  Object.values(EXPORT_FORMATS).map(({ mediaType, schema }) => [mediaType, schema]),
)

/** @throws {ApiError} 400 for parameters that only apply to pages. */
function refuseWithFile(query: HistoryQuery): void {
  const faults = (['limit', 'cursor'] as const)
    .filter((field) => query[field] !== undefined)
    .map((field) => ({
      field,
      message: `${field} requires format=json: the other formats contain the whole range between from and to`,
    }))
  if (faults.length > 0) throw invalidParams(faults)
}
