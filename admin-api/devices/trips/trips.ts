import type { Clock } from '../../../runtime/clock.ts'
import { objectOf, type JsonSchema } from '../../../runtime/openapi/json-schema.ts'
import { coordinatesOf } from '../../../schemas/geo/earth-point.ts'
import type { TripOrStop } from '../../../schemas/geo/trip-finder.ts'
import type { Store } from '../../../store/store.ts'
import {
  pathParameter,
  route,
  type AdminContext,
  type AdminRoute,
  type Input,
} from '../../http/admin-route.ts'
import type { Caller } from '../../http/caller.ts'
import { answerInParts, viewInParts } from '../../http/answer-in-parts.ts'
import { NEXT_CURSOR } from '../../http/answer-page.ts'
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
import { isoTime, TIME } from '../../http/views.ts'
import { PLACE, type PlaceNames, type NameOf } from '../../places/place-names.ts'
import { requireDevice } from '../require-device.ts'
import type { HistoryTurns } from '../history-turns.ts'
import { readTrips } from './read-trips.ts'

const USUAL_RANGE_MS = 31 * 24 * 60 * 60 * 1_000

const MOST_ITEMS = 2_000

const TRIPS_PARAMETERS = {
  ...rangeParameters('`timestamp`'),
  stopSeconds: countParameter('stopSeconds', { min: 60, max: 86_400 })
    .withDefault(300)
    .described('For how long a device must stay somewhere for a stop'),
  stopMetres: countParameter('stopMetres', { min: 20, max: 5_000 })
    .withDefault(100)
    .described('The radius of a stop, unless accuracies reach further'),
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
      parts: viewInParts(items, (item) => tripView(item, { from, to }, nameOf)),
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
Without \`from\` the range is the 31 days before \`to\`; it may have up to ${MOST_DAYS} days. At a stop the device stays in one place for at least
\`stopSeconds\`. A trip leads from one stop to the next. It also ends if no record follows within an hour, or
at a step faster than 300 m/s; the time until the next record is then unknown, unless the device is still in
the same place: then it has stopped there. A single record that jumps away and back is ignored.
The first records of a stop may belong to the way there, so a stop settles once: a device that seems to have left, but
has stayed within \`stopMetres\` for \`stopSeconds\` since the stop was found, is still at the stop, whose \`position\` is then the
time-weighted mean of those records. Consecutive stops within \`stopMetres\` are merged, with the records between them that show no
movement. Two stops further apart than their records' error have a trip between them, however short: there is nothing between two
items only if the path is unknown. 90 000 records in one place are a stop even in a shorter time.

A trip or stop that starts before \`from\` or ends after \`to\` is returned whole, up to 31 days before and after, and has
\`open\`: successive ranges return the same items as one range, and an item that crosses a boundary appears on
both sides. A trip's distance, moving time and top speed are those of a track from its
\`from\` to its \`to\`. The \`totals\` count the metres and seconds within the range, and the trips and stops that start in
it, so totals of successive ranges add up.
`.trim()

type Range = { readonly from: number; readonly to: number }

/** A trip or stop as the API shows it. */
export async function tripView(item: TripOrStop, range: Range, nameOf: NameOf) {
  const { kind, from, to, records } = item
  const times = { from: isoTime(from), to: isoTime(to), open: openOf(item, range) }
  if (kind === 'stop') {
    const position = coordinatesOf(item.middle)
    return { kind, ...times, position, place: await nameOf(position), records }
  }
  const { distanceMetres, movingMs, maxSpeed, start, end } = item
  return {
    kind,
    ...times,
    distanceMetres,
    movingSeconds: movingMs / 1_000,
    maxSpeed,
    start: { ...start, place: await nameOf(start) },
    end: { ...end, place: await nameOf(end) },
    records,
  }
}

function openOf(item: TripOrStop, { from, to }: Range): 'before' | 'after' | 'both' | null {
  if (item.from < from) return item.to > to ? 'both' : 'before'
  return item.to > to ? 'after' : null
}

const AMOUNT: JsonSchema = { type: 'number', minimum: 0 }
const COUNT: JsonSchema = { type: 'integer', minimum: 0 }

const COORDINATES = {
  latitude: { type: 'number', minimum: -90, maximum: 90 },
  longitude: { type: 'number', minimum: -180, maximum: 180 },
}

const POSITION: JsonSchema = objectOf(COORDINATES, { title: 'StopPosition' })

const TRIP_END: JsonSchema = objectOf({ ...COORDINATES, place: PLACE }, { title: 'TripEnd' })

const OF_TRIPS = {
  distanceMetres: AMOUNT,
  movingSeconds: AMOUNT,
  maxSpeed: { type: ['number', 'null'], description: 'Metres per second' },
  start: TRIP_END,
  end: TRIP_END,
}

// Not `oneOf`: for it, openapi-generator's Go code needs an extra package.
const TRIP_OR_STOP: JsonSchema = objectOf(
  {
    kind: { enum: ['trip', 'stop'] },
    from: { ...TIME, description: 'The first record' },
    to: {
      ...TIME,
      description:
        'The last record, or the first of the next stop if nothing shows a movement between',
    },
    open: {
      type: ['string', 'null'],
      enum: ['before', 'after', 'both', null],
      description: 'Where it reaches beyond the range',
    },
    ...OF_TRIPS,
    position: POSITION,
    place: PLACE,
    records: {
      ...COUNT,
      description: 'A trip’s count excludes the records of the stops at its ends',
    },
  },
  {
    title: 'TripOrStop',
    description:
      'A stop has a `position`, its centre, and its `place`; a trip has all other fields',
    optional: [...Object.keys(OF_TRIPS), 'position', 'place'],
  },
)

const TRIPS: JsonSchema = objectOf(
  {
    items: {
      type: 'array',
      description: 'By time; periods without data are omitted',
      items: TRIP_OR_STOP,
    },
    nextCursor: NEXT_CURSOR,
    totals: objectOf(
      {
        trips: COUNT,
        stops: COUNT,
        distanceMetres: AMOUNT,
        movingSeconds: AMOUNT,
        stoppedSeconds: AMOUNT,
      },
      {
        title: 'TripTotals',
        description:
          'On the first page: metres and seconds within the range, so days add up; trips and stops that start in it',
      },
    ),
  },
  { title: 'Trips', optional: ['totals'] },
)
