import type { Clock } from '../../../runtime/clock.ts'
import type { Store } from '../../../store/store.ts'
import {
  pathParameter,
  route,
  type AdminContext,
  type AdminRoute,
  type Input,
} from '../../http/admin-route.ts'
import type { Caller } from '../../http/caller.ts'
import { answerInParts, viewedInParts } from '../../http/answer-in-parts.ts'
import { readCursor, writeCursor } from '../../http/cursor.ts'
import {
  countParameter,
  limitParameter,
  MOST_DAYS,
  PAGE_PARAMETERS,
  rangeParameters,
  requireShortRange,
} from '../../http/query.ts'
import type { InputOf } from '../../http/rule.ts'
import type { PlaceNames } from '../../places/place-names.ts'
import { requireDevice } from '../require-device.ts'
import type { HistoryTurns } from '../history-turns.ts'
import { readTrips } from './read-trips.ts'
import { tripView, TRIPS } from './trips-view.ts'

const USUAL_RANGE_MS = 31 * 24 * 60 * 60 * 1_000

const MOST_ITEMS = 2_000

const TRIPS_PARAMETERS = {
  ...rangeParameters('`timestamp`'),
  stopSeconds: countParameter('stopSeconds', { min: 60, max: 86_400 })
    .withDefault(300)
    .described('For how long a device must stay somewhere for a stop'),
  stopMetres: countParameter('stopMetres', { min: 20, max: 5_000 })
    .withDefault(100)
    .described('How far from its middle a stop may reach, if accuracies do not reach further'),
  limit: limitParameter(MOST_ITEMS).withDefault(MOST_ITEMS),
  cursor: PAGE_PARAMETERS.cursor,
}

/** A device's trips and stops. */
export function tripsRoute({
  store,
  clock,
  turns,
  placeNames,
}: {
  store: Store
  clock: Clock
  turns: HistoryTurns
  placeNames: PlaceNames
}): AdminRoute {
  async function show(
    ctx: AdminContext,
    caller: Caller,
    { query }: Input<InputOf<typeof TRIPS_PARAMETERS>>,
  ): Promise<void> {
    const { limit, cursor, ...filter } = query
    const { stopSeconds, stopMetres, to = clock.now(), from = to - USUAL_RANGE_MS } = filter
    requireShortRange({ from, to })
    const { accountId } = caller
    const deviceId = pathParameter(ctx, 'deviceId')
    const list = { name: 'trips', accountId, filter: { deviceId, ...filter } }
    const [startedAt, lastFrom, lastTo, nth] =
      readCursor(cursor, list, ['number', 'number', 'number', 'number']) ?? []
    await requireDevice(store, caller, deviceId)
    const { items, next, totals } = await turns.run(
      () =>
        readTrips(
          {
            accountId,
            deviceId,
            from,
            to,
            stopMs: stopSeconds * 1_000,
            stopMetres,
            limit,
            ...(startedAt !== undefined &&
              lastFrom !== undefined &&
              lastTo !== undefined &&
              nth !== undefined && { after: { startedAt, from: lastFrom, to: lastTo, nth } }),
          },
          { store, isWanted: () => !ctx.req.socket.destroyed },
        ),
      accountId,
    )
    const nameOf = await placeNames.of(accountId)
    await answerInParts(ctx, {
      name: 'items',
      parts: viewedInParts(items, (item) => tripView(item, { from, to }, nameOf)),
      after: () => ({
        nextCursor: next ? writeCursor(list, [next.startedAt, next.from, next.to, next.nth]) : null,
        ...(totals !== undefined && { totals }),
      }),
    })
  }

  return route({
    method: 'GET',
    path: '/devices/:deviceId/trips',
    summary: 'Lists the trips and stops of a device, with totals',
    description: DESCRIPTION,
    needs: 'viewer',
    scope: 'positions:read',
    query: TRIPS_PARAMETERS,
    compressed: true,
    answer: { data: TRIPS },
    handle: show,
  })
}

const DESCRIPTION = `
Without \`from\` the range is the 31 days before \`to\`; it may have ${MOST_DAYS} days. At a stop the device is in one place for at least
\`stopSeconds\`. A trip leads from one stop to the next. It also ends where no record came for more than an
hour, or where a step is faster than 300 m/s; the time until the next record is then unknown, unless the
device is in the same place after it: then it has stopped there. A single record that leaps out and is back at the
next is left out. Stops that follow one another within \`stopMetres\` are one, and records between them that show no
movement belong to them: only where the path is unknown is there nothing between two items. Very many records at one place, 90 000, are
a stop even in a shorter time.

A trip or stop that begins before \`from\` or ends after \`to\` is returned whole, up to 31 days before and after, and has
\`open\`: successive ranges return the same items as one range, and an item that crosses a boundary appears on
both sides. A trip's distance, moving time and top speed are those of a track from its
\`from\` to its \`to\`.
`.trim()
