import type { Clock } from '../runtime/clock.ts'
import { succeed } from '../runtime/http/http.ts'
import type { Instances, InstanceMinute } from '../store/back-office.ts'
import {
  route,
  type AdminContext,
  type AdminRoute,
  type Input,
  type JsonSchema,
} from './http/admin-route.ts'
import type { Caller } from './http/caller.ts'
import { countParameter } from './http/query.ts'
import type { InputOf } from './http/rule.ts'
import { isoTime, TIME } from './http/views.ts'
import { objectOf } from '../runtime/openapi/json-schema.ts'

const MINUTE_MS = 60_000

const HISTORY_PARAMETERS = {
  minutes: countParameter('minutes', { min: 1, max: 1_440 })
    .withDefault(60)
    .described('How far back; the last minute is the current one'),
}

/** The state of the service over time, minute by minute. */
export function systemHistoryRoute({
  store,
  clock,
}: {
  store: Instances
  clock: Clock
}): AdminRoute {
  async function show(
    ctx: AdminContext,
    _caller: Caller,
    { query: { minutes } }: Input<InputOf<typeof HISTORY_PARAMETERS>>,
  ): Promise<void> {
    const last = Math.floor(clock.now() / MINUTE_MS) * MINUTE_MS
    const first = last - (minutes - 1) * MINUTE_MS
    const minutesByStart = new Map<number, InstanceMinute[]>()
    for (const minute of await store.instanceMinutes({ since: first })) {
      minutesByStart.set(minute.start, [...(minutesByStart.get(minute.start) ?? []), minute])
    }
    const items = Array.from({ length: minutes }, (_, n) => {
      const start = first + n * MINUTE_MS
      return minuteView(start, minutesByStart.get(start) ?? [])
    })
    succeed(ctx, { items })
  }

  return route({
    method: 'GET',
    path: '/system/history',
    summary: 'The state of the service minute by minute, oldest first',
    description:
      'Compiled from the last report of each running service in each minute, stored for 24 hours. A value that no service reported is null.',
    needs: 'viewer',
    query: HISTORY_PARAMETERS,
    compressed: true,
    answer: { data: HISTORY },
    handle: show,
  })
}

function minuteView(start: number, instances: readonly InstanceMinute[]) {
  const figures = <T>(of: (minute: InstanceMinute) => T | undefined) =>
    instances.flatMap((minute) => of(minute) ?? [])
  const [lag] = figures(({ lag }) => lag).sort((a, b) => b.seconds - a.seconds)
  const deadLetters = figures((minute) => minute.deadLetters)
  return {
    start: isoTime(start),
    accepted: sum(figures((minute) => minute.acceptedPerMinute)),
    refused: sum(figures((minute) => minute.refusedPerMinute)),
    lag: lag ?? null,
    deadLetters: deadLetters.length === 0 ? null : Math.max(...deadLetters),
  }
}

function sum(numbers: readonly number[]): number | null {
  return numbers.length === 0 ? null : numbers.reduce((total, number) => total + number, 0)
}

const NUMBER_OR_NULL: JsonSchema = { type: ['number', 'null'] }

const HISTORY: JsonSchema = objectOf(
  {
    items: {
      type: 'array',
      items: objectOf(
        {
          start: TIME,
          accepted: { ...NUMBER_OR_NULL, description: 'Positions' },
          refused: { ...NUMBER_OR_NULL, description: 'Reports' },
          lag: objectOf(
            { events: { type: 'integer' }, seconds: { type: 'number' } },
            { title: 'SystemMinuteLag', type: ['object', 'null'] },
          ),
          deadLetters: { type: ['integer', 'null'], description: 'In the log at that time' },
        },
        { title: 'SystemMinute' },
      ),
    },
  },
  { title: 'SystemHistory' },
)
