import type { Clock } from '../../../runtime/clock.ts'
import { OPTIONAL_FIELDS } from '../../../schemas/report/report-fields.ts'
import type { TrackRow } from '../../../schemas/devices/read-models.ts'
import type { Store } from '../../../store/store.ts'
import {
  pathParameter,
  route,
  type AdminContext,
  type AdminRoute,
  type Input,
  type JsonSchema,
} from '../../http/admin-route.ts'
import type { Caller } from '../../http/caller.ts'
import { answerInParts } from '../../http/answer-in-parts.ts'
import {
  countParameter,
  LONGEST_RANGE_MS,
  MOST_DAYS,
  rangeParameters,
  requireShortRange,
} from '../../http/query.ts'
import { parsedValue, type InputOf } from '../../http/rule.ts'
import { isoTime, TIME } from '../../http/views.ts'
import { requireDevice } from '../require-device.ts'
import type { HistoryTurns } from '../history-turns.ts'
import { type MapBounds, readTrack, readTrackPoints } from './read-track.ts'
import { objectOf } from '../../../runtime/openapi/json-schema.ts'

/** How far a timestamp may be in the future. */
const AHEAD_MS = 24 * 60 * 60 * 1_000

const TRACK_PARAMETERS = {
  ...rangeParameters('`timestamp`'),
  points: countParameter('points', { min: 100, max: 10_000 })
    .withDefault(2_000)
    .described('The maximum number of records returned'),
  within: parsedValue({
    parse: parseMapBounds,
    expected: 'within must be west,south,east,north in degrees, for example 13.3,52.4,13.5,52.6',
    openapi: { type: 'string' },
  }).described('West, south, east, north: `rows` only cover this part of the map, in more detail'),
}

/** Columns in the order of `TrackRow`. */
const COLUMNS = ['timestamp', 'latitude', 'longitude', ...OPTIONAL_FIELDS, 'recordId'] as const

/** A device's track for a map, thinned to the wanted number of points. */
export function trackRoute({
  store,
  clock,
  turns,
}: {
  store: Store
  clock: Clock
  turns: HistoryTurns
}): AdminRoute {
  async function show(
    ctx: AdminContext,
    caller: Caller,
    { query }: Input<InputOf<typeof TRACK_PARAMETERS>>,
  ): Promise<void> {
    const { points, within, to = clock.now() + AHEAD_MS, from = to - LONGEST_RANGE_MS } = query
    requireShortRange({ from, to })
    const { accountId } = caller
    const deviceId = pathParameter(ctx, 'deviceId')
    const { settings } = await requireDevice(store, caller, deviceId)
    const { expectedIntervalSeconds } = settings
    const { total, thinned, totals, bounds, breaks } = await turns.run(
      () =>
        readTrack(
          { accountId, deviceId, from, to, points, expectedIntervalSeconds, within },
          { store, isWanted: () => !ctx.req.socket.destroyed },
        ),
      accountId,
    )
    const recordIds = thinned.records().map(({ recordId }) => recordId)
    let shown = 0
    await answerInParts(ctx, {
      before: {
        total,
        toleranceMetres: thinned.tolerance,
        distanceMetres: totals.distanceMetres,
        movingSeconds: totals.movingMs / 1_000,
        maxSpeed: totals.maxSpeed,
        bounds: bounds.box(),
        gaps: thinned.gaps().map(({ from, to }) => ({
          from: isoTime(from.timestamp),
          to: isoTime(to.timestamp),
          ...(breaks.has(to.recordId) && { outside: true }),
        })),
        columns: COLUMNS,
      },
      name: 'rows',
      parts: rows(),
      after: () => ({ shown }),
    })

    async function* rows(): AsyncGenerator<unknown[][], void> {
      for await (const part of readTrackPoints({ accountId, deviceId, recordIds }, store)) {
        shown += part.length
        yield part.map(row)
      }
    }
  }

  return route({
    method: 'GET',
    path: '/devices/:deviceId/track',
    summary: 'Returns a device’s track, thinned for a map',
    description: DESCRIPTION,
    needs: 'viewer',
    scope: 'positions:read',
    query: TRACK_PARAMETERS,
    compressed: true,
    answer: { data: TRACK },
    handle: show,
  })
}

const DESCRIPTION = `
Without \`from\` the range is the ${MOST_DAYS} days before \`to\`, the maximum. All records count towards the totals; \`rows\` are
those that best show the route and its timing. An omitted record is at most \`toleranceMetres\` from where a straight line
between the rows around it puts the device at that time. A single record that jumps away faster than 300 m/s, and
back with the next one, only counts in \`total\`: the device was never there.

With \`within\` the totals remain those of the range, and \`rows\` show the part of the track in that area, each time from the
row before it to the row after it: a zoomed-in map shows a year in as much detail as a day.
`.trim()

/** West above east crosses the 180th meridian. */
function parseMapBounds(text: string): MapBounds | undefined {
  const numbers = text.split(',').map((part) => (NUMBER_TEXT.test(part) ? Number(part) : NaN))
  const [west = NaN, south = NaN, east = NaN, north = NaN] = numbers
  const areLongitudes = Math.abs(west) <= 180 && Math.abs(east) <= 180
  const areLatitudes = south >= -90 && south <= north && north <= 90
  const isBox = numbers.length === 4 && areLongitudes && areLatitudes
  return isBox ? { west, south, east, north } : undefined
}

const NUMBER_TEXT = /^-?\d{1,3}(\.\d{1,20})?$/

function row([timestamp, ...others]: TrackRow): unknown[] {
  return [isoTime(timestamp), ...others]
}

const NUMBER: JsonSchema = { type: 'number', minimum: 0 }
const COUNT: JsonSchema = { type: 'integer', minimum: 0 }

const BOUNDS: JsonSchema = objectOf(
  {
    west: { type: 'number' },
    south: { type: 'number' },
    east: { type: 'number' },
    north: { type: 'number' },
  },
  {
    title: 'TrackBounds',
    description: 'The smallest box around all records; west above east crosses the 180th meridian',
    type: ['object', 'null'],
  },
)

const PROPERTIES: JsonSchema = {
  total: { ...COUNT, description: 'The number of records in the range' },
  shown: { ...COUNT, description: 'The number of records in `rows`' },
  toleranceMetres: NUMBER,
  distanceMetres: {
    ...NUMBER,
    description:
      'From record to record, without steps that take more than an hour or are faster than 300 m/s',
  },
  movingSeconds: {
    ...NUMBER,
    description: 'At 0.5 m/s or more, over the same steps as the distance',
  },
  maxSpeed: {
    type: ['number', 'null'],
    description:
      'Metres per second: the highest reported speed; if fewer than half of the records have one, also the highest between records',
  },
  bounds: BOUNDS,
  gaps: {
    type: 'array',
    description:
      'Silences that make the device offline, by its expected or else its usual interval, and all steps that add no distance; at most a quarter of `points`, the longest ones. Each lies between two adjacent rows',
    items: objectOf(
      {
        from: TIME,
        to: TIME,
        outside: { type: 'boolean', description: 'The track was outside `within` in between' },
      },
      { title: 'TrackGap', optional: ['outside'] },
    ),
  },
  columns: { type: 'array', items: { type: 'string' }, description: `\`${COLUMNS.join('`, `')}\`` },
  rows: {
    type: 'array',
    description: 'By time, each with a value or null for each of the columns',
    items: { type: 'array', items: {}, minItems: COLUMNS.length, maxItems: COLUMNS.length },
  },
}

const TRACK: JsonSchema = {
  title: 'Track',
  type: 'object',
  required: Object.keys(PROPERTIES),
  properties: PROPERTIES,
  additionalProperties: false,
}
