import type { Clock } from '../../../runtime/clock.ts'
import { succeed } from '../../../runtime/http.ts'
import type { Store } from '../../../store/store.ts'
import {
  pathParameter,
  route,
  type AdminContext,
  type AdminRoute,
  type Input,
} from '../../http/admin-route.ts'
import type { Caller } from '../../http/caller.ts'
import { countParameter, rangeParameters, requireRange } from '../../http/query.ts'
import type { InputOf } from '../../http/rule.ts'
import { requireDevice } from '../devices.ts'
import { readTrips } from './read-trips.ts'
import { tripsView, TRIPS } from './trips-view.ts'

const USUAL_RANGE_MS = 31 * 24 * 60 * 60 * 1_000

const TRIPS_PARAMETERS = {
  ...rangeParameters('`timestamp`'),
  stopSeconds: countParameter('stopSeconds', { min: 60, max: 86_400 })
    .withDefault(300)
    .described('For how long a device must stay somewhere for a stop'),
  stopMetres: countParameter('stopMetres', { min: 20, max: 5_000 })
    .withDefault(100)
    .described('How far from its middle a stop may reach, if accuracies do not reach further'),
}

/** A device's trips and stops. */
export function tripsRoute({ store, clock }: { store: Store; clock: Clock }): AdminRoute {
  async function show(
    ctx: AdminContext,
    caller: Caller,
    { query }: Input<InputOf<typeof TRIPS_PARAMETERS>>,
  ): Promise<void> {
    const { stopSeconds, stopMetres, to = clock.now(), from = to - USUAL_RANGE_MS } = query
    requireRange({ from, to })
    const deviceId = pathParameter(ctx, 'deviceId')
    await requireDevice(store, caller, deviceId)
    const { accountId } = caller
    const rules = { stopMs: stopSeconds * 1_000, stopMetres }
    const items = await readTrips(
      { accountId, deviceId, from, to, ...rules },
      { store, isWanted: () => !ctx.req.socket.destroyed },
    )
    succeed(ctx, tripsView(items, { from, to }))
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
Without \`from\` the range is the 31 days before \`to\`. At a stop the device is in one place for at least
\`stopSeconds\`. A trip leads from one stop to the next. It also ends where no record came for more than an
hour, or where a step is faster than 300 m/s; the time until the next record is then unknown, unless the
device is in the same place after it: then it has stopped there.

A trip or stop that begins before \`from\` or ends after \`to\` is returned whole, up to 31 days before and after, and has
\`open\`: successive ranges return the same items as one range, and an item that crosses a boundary appears on
both sides. A trip's distance, moving time and top speed are those of a track from its
\`from\` to its \`to\`.
`.trim()
