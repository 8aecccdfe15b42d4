import type { Clock } from '../../runtime/clock.ts'
import { invalidParams } from '../../runtime/errors.ts'
import { succeed } from '../../runtime/http/http.ts'
import type { Store } from '../../store/store.ts'
import {
  pathParameter,
  route,
  type AdminContext,
  type AdminRoute,
  type Input,
  type JsonSchema,
} from '../http/admin-route.ts'
import type { Caller } from '../http/caller.ts'
import { rangeParameters, requireRange, zoneParameter } from '../http/query.ts'
import { choice, type InputOf } from '../http/rule.ts'
import { isoTime, TIME } from '../http/views.ts'
import { requireDevice } from './require-device.ts'
import { localSteps, STEPS } from '../../schemas/geo/local-time.ts'
import { objectOf } from '../../runtime/openapi/json-schema.ts'

const MOST_STEPS = 1_000
const USUAL_RANGE_MS = 30 * 24 * 60 * 60 * 1_000

const ACTIVITY_PARAMETERS = {
  ...rangeParameters('`timestamp`'),
  step: choice(STEPS, { expected: `step must be ${STEPS.join(' or ')}` })
    .withDefault('day')
    .described('How long each step is'),
  tz: zoneParameter('tz').withDefault('UTC').described('The time zone for hours and days'),
}

/** Counts a device's reports per hour or day, so that users find days with data. */
export function activityRoute({ store, clock }: { store: Store; clock: Clock }): AdminRoute {
  async function show(
    ctx: AdminContext,
    caller: Caller,
    { query }: Input<InputOf<typeof ACTIVITY_PARAMETERS>>,
  ): Promise<void> {
    const { step, tz: timeZone, to = clock.now(), from = to - USUAL_RANGE_MS } = query
    requireRange({ from, to })
    const starts = localSteps({ from, to, step, timeZone }, MOST_STEPS)
    if (starts === undefined) {
      const message = `from and to must be at most ${MOST_STEPS} steps apart`
      throw invalidParams([{ field: 'from', message }])
    }
    const deviceId = pathParameter(ctx, 'deviceId')
    await requireDevice(store, caller, deviceId)
    const bounds = starts.map((start) => Math.min(Math.max(start, from), to))
    const { accountId } = caller
    const counts = await store.countPositions({ accountId, deviceId, bounds })
    succeed(ctx, {
      items: counts.map((count, n) => ({ start: isoTime(starts[n] ?? from), count })),
    })
  }

  return route({
    method: 'GET',
    path: '/devices/:deviceId/activity',
    summary: 'Counts a device’s records by hour or day',
    description: `At most ${MOST_STEPS} steps; without a range, the last 30 days.`,
    needs: 'viewer',
    scope: 'positions:read',
    query: ACTIVITY_PARAMETERS,
    compressed: true,
    answer: { data: ACTIVITY },
    handle: show,
  })
}

const ACTIVITY: JsonSchema = objectOf(
  {
    items: {
      type: 'array',
      items: objectOf(
        {
          start: { ...TIME, description: 'When the hour or day starts in the time zone' },
          count: { type: 'integer', minimum: 0, description: 'Records of the range only' },
        },
        { title: 'ActivityStep' },
      ),
    },
  },
  { title: 'Activity' },
)
