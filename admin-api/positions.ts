import { ApiError, invalidParams } from '../runtime/errors.ts'
import { succeed } from '../runtime/http.ts'
import type { Store } from '../store/store.ts'
import { pathParameter, type AdminContext, type AdminRoute } from './admin-route.ts'
import { answerPage } from './answer-page.ts'
import type { Caller } from './caller.ts'
import { readCursor } from './cursor.ts'
import { requireDevice } from './devices.ts'
import { choiceParameter, PAGE_PARAMETERS, readQuery, timeParameter } from './query.ts'
import { recordView } from './views.ts'

type HistoryQuery = {
  readonly from?: number
  readonly to?: number
  readonly order: 'asc' | 'desc'
  readonly limit: number
  readonly cursor?: string
}

const HISTORY_PARAMETERS = {
  ...PAGE_PARAMETERS,
  from: timeParameter('from'),
  to: timeParameter('to'),
  order: choiceParameter('order', ['asc', 'desc']).default('desc'),
}

/** Stored records: a device's history, and one by its id. */
export function positionRoutes({ store }: { store: Store }): AdminRoute[] {
  async function history(ctx: AdminContext, { accountId }: Caller): Promise<void> {
    const deviceId = pathParameter(ctx, 'deviceId')
    const { limit, cursor, ...range } = readQuery<HistoryQuery>(ctx, HISTORY_PARAMETERS)
    if (range.from !== undefined && range.to !== undefined && range.from > range.to) {
      throw invalidParams([{ field: 'from', message: 'from must not be after to' }])
    }
    const list = { name: 'positions', accountId, filter: { deviceId, ...range } }
    const [timestamp, recordId] = readCursor(cursor, list, ['number', 'text']) ?? []
    const items = await store.pagePositions({
      accountId,
      deviceId,
      ...range,
      limit: limit + 1,
      ...(timestamp !== undefined && recordId !== undefined && { after: { timestamp, recordId } }),
    })
    if (items.length === 0) await requireDevice(store, { accountId, deviceId })
    answerPage(ctx, {
      list,
      limit,
      items,
      placeOf: (record) => [record.timestamp, record.recordId],
      view: recordView,
    })
  }

  async function show(ctx: AdminContext, { accountId }: Caller): Promise<void> {
    const recordId = pathParameter(ctx, 'recordId')
    readQuery(ctx, {})
    const record = await store.findPosition({ accountId, recordId })
    if (record === undefined) {
      throw new ApiError('NOT_FOUND', 'there is no record with this id, or not yet')
    }
    succeed(ctx, recordView(record))
  }

  const scope = 'positions:read'
  return [
    {
      method: 'GET',
      path: '/devices/:deviceId/positions',
      needs: 'viewer',
      scope,
      handle: history,
    },
    { method: 'GET', path: '/positions/:recordId', needs: 'viewer', scope, handle: show },
  ]
}
