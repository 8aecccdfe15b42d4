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

/** When a device was on its way, and where it stood. */
export function tripsRoute({ store, clock }: { store: Store; clock: Clock }): AdminRoute {
  async function show(
    ctx: AdminContext,
    caller: Caller,
    { query }: Input<InputOf<typeof TRIPS_PARAMETERS>>,
  ): Promise<void> {
    const { stopSeconds, stopMetres, to = clock.now(), from = to - USUAL_RANGE_MS } = query
    requireRange({ from, to })
    const deviceId = pathParameter(ctx, 'deviceId')
    const { settings } = await requireDevice(store, caller, deviceId)
    const { accountId } = caller
    const { expectedIntervalSeconds } = settings
    const rules = { stopMs: stopSeconds * 1_000, stopMetres, expectedIntervalSeconds }
    const items = await readTrips(
      { accountId, deviceId, from, to, ...rules },
      { store, isWanted: () => !ctx.req.socket.destroyed },
    )
    succeed(ctx, tripsView(items, { from, to }))
  }

  return route({
    method: 'GET',
    path: '/devices/:deviceId/trips',
    summary: 'When a device was on its way, and where it stood',
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
The 31 days before \`to\` where no \`from\` is given. A stop is at least \`stopSeconds\` around one place. A
trip leads from one to the next, and ends too where no record came for more than an hour, or where a step
is faster than 300 m/s; the time until the next record is then unknown, except that a device stood
still that is found at the same place after it.

A trip or stop that begins before \`from\` or ends after \`to\` is given whole, up to 31 days before and after, and has
\`open\`: ranges that follow one another give the same items as one range, with those that are open to both
sides of a boundary given twice. A trip's distance, moving time and top speed are those of a track from its
\`from\` to its \`to\`.
`.trim()
