import { Readable } from 'node:stream'
import type { Clock } from '../../../runtime/clock.ts'
import { invalidParams } from '../../../runtime/errors.ts'
import { objectOf, type JsonSchema } from '../../../runtime/openapi/json-schema.ts'
import { openPages } from '../../../runtime/process/read-pages.ts'
import type { GeofenceShape } from '../../../schemas/definitions/geofence.ts'
import { areasOf } from '../../../schemas/geo/area.ts'
import { RADIUS_METRES } from '../../../schemas/geo/parse-shape.ts'
import type { Store } from '../../../store/store.ts'
import { route, type AdminContext, type AdminRoute, type Input } from '../../http/admin-route.ts'
import { answerPage, pageOf } from '../../http/answer-page.ts'
import { deviceList, type Caller } from '../../http/caller.ts'
import { readCursor } from '../../http/cursor.ts'
import {
  PAGE_PARAMETERS,
  rangeParameters,
  requireShortRange,
  textParameter,
} from '../../http/query.ts'
import { choice, parsedValue, type InputOf } from '../../http/rule.ts'
import { isoTime, TIME } from '../../http/views.ts'
import { csvText } from '../export/csv.ts'
import type { HistoryTurns } from '../history-turns.ts'
import { labelParameter } from '../label-rules.ts'
import { pageVisits, type NumberedVisit, type VisitsAsked } from './page-visits.ts'

const USUAL_RANGE_MS = 24 * 60 * 60 * 1_000
const MOST_DAYS = 31
/** A file is read in pages of this size. */
const EXPORTED_AT_ONCE = 2_000

const VISIT_PARAMETERS = {
  ...PAGE_PARAMETERS,
  geofenceId: textParameter('geofenceId', 128).described(
    'The area of this geofence, for all devices and times, whenever it was made and whomever it is for',
  ),
  latitude: degreesParameter('latitude', 90).described('The centre of a circle, with `radius`'),
  longitude: degreesParameter('longitude', 180).described('The centre of a circle'),
  radius: numberParameter('radius', { between: RADIUS_METRES, unit: 'metres' }),
  deviceId: textParameter('deviceId', 128).described('Only visits of this device'),
  label: labelParameter.described(
    'Only visits of devices that have this label now; if it is repeated, all of them',
  ),
  ...rangeParameters('`timestamp`'),
  format: choice(['json', 'csv'], { expected: 'format must be json or csv' })
    .withDefault('json')
    .described('json is a page of the list; csv is the whole range as a file'),
}

type VisitInput = InputOf<typeof VISIT_PARAMETERS>

function degreesParameter(name: string, most: number) {
  return numberParameter(name, { between: [-most, most], unit: 'degrees' })
}

function numberParameter(
  name: string,
  { between: [least, most], unit }: { between: readonly [number, number]; unit: string },
) {
  return parsedValue({
    parse(text) {
      const value = /^-?\d{1,7}(\.\d{1,20})?$/.test(text) ? Number(text) : NaN
      return value >= least && value <= most ? value : undefined
    },
    expected: `${name} must be a number of ${unit} from ${least} to ${most}`,
    openapi: { type: 'number', minimum: least, maximum: most },
  })
}

/** Lists the devices that were in an area, with the times of their visits. */
export function visitsRoute({
  store,
  clock,
  turns,
}: {
  store: Store
  clock: Clock
  turns: HistoryTurns
}): AdminRoute {
  async function list(
    ctx: AdminContext,
    caller: Caller,
    { query }: Input<VisitInput>,
  ): Promise<void> {
    const { limit, cursor, format, ...filter } = query
    const now = clock.now()
    const { to = now, from = to - USUAL_RANGE_MS, deviceId, label: labels } = filter
    requireShortRange({ from, to }, MOST_DAYS)
    const { accountId } = caller
    const areas = areasOf(await shapeOf(accountId, filter))
    const devices = deviceList(caller)
    const wanted = {
      accountId,
      areas,
      from,
      to: Math.min(to, now),
      ...(deviceId !== undefined && { deviceId }),
      ...(labels !== undefined && { labels }),
      ...(devices !== undefined && { devices }),
    }
    const isWanted = () => !ctx.req.socket.destroyed
    const read = (page: VisitsAsked) =>
      turns.run(() => pageVisits({ ...wanted, ...page }, { store, isWanted }), accountId)
    if (format === 'csv') return exportVisits(ctx, read)
    const list = { name: 'visits', accountId, filter }
    const [lastId, nth] = readCursor(cursor, list, ['text', 'number']) ?? []
    const after =
      lastId === undefined || nth === undefined ? {} : { after: { deviceId: lastId, nth } }
    const items = await read({ limit: limit + 1, ...after })
    const placeOf = ({ deviceId, nth }: NumberedVisit) => [deviceId, nth] as const
    await answerPage(ctx, { list, limit, items, placeOf, view: visitView })
  }

  /** @throws {ApiError} 400 unless exactly one area is given. */
  async function shapeOf(
    accountId: string,
    {
      geofenceId,
      latitude,
      longitude,
      radius,
    }: Pick<VisitInput, 'geofenceId' | 'latitude' | 'longitude' | 'radius'>,
  ): Promise<GeofenceShape> {
    const circle = { latitude, longitude, radius }
    const missing = Object.entries(circle).filter(([, value]) => value === undefined)
    if (geofenceId === undefined) {
      if (latitude !== undefined && longitude !== undefined && radius !== undefined) {
        return { type: 'circle', latitude, longitude, radius }
      }
      throw invalidParams(
        missing.map(([field]) => ({ field, message: `${field} is missing: ${AREA}` })),
      )
    }
    if (missing.length < 3) {
      const message = `geofenceId cannot be combined with latitude, longitude and radius: ${AREA}`
      throw invalidParams([{ field: 'geofenceId', message }])
    }
    const geofence = await store.findGeofence({ accountId, id: geofenceId })
    if (geofence !== undefined) return geofence.shape
    const message = 'geofenceId names no geofence of this account: GET /geofences lists them'
    throw invalidParams([{ field: 'geofenceId', message }])
  }

  return route({
    method: 'GET',
    path: '/visits',
    summary: 'Lists visits to an area, computed from the records',
    description: DESCRIPTION,
    needs: 'viewer',
    scope: 'positions:read',
    query: VISIT_PARAMETERS,
    compressed: true,
    answer: { data: pageOf(VISIT), content: { [CSV]: VISIT_ROWS } },
    handle: list,
  })
}

const AREA = 'send either geofenceId, or latitude, longitude and radius'

/** The first page is read before this returns, so an unavailable store causes a 503. */
async function exportVisits(
  ctx: AdminContext,
  read: (page: VisitsAsked) => Promise<readonly NumberedVisit[]>,
): Promise<void> {
  const pages = await openPages<NumberedVisit>(EXPORTED_AT_ONCE, read)
  ctx.set('Content-Type', CSV)
  ctx.attachment('visits.csv')
  ctx.body = Readable.from(rows(pages))
}

async function* rows(pages: AsyncIterable<readonly NumberedVisit[]>): AsyncGenerator<string> {
  yield csvText([[...COLUMNS]])
  for await (const page of pages) {
    yield csvText(
      page.map((visit) => {
        const view = visitView(visit)
        return COLUMNS.map((name) => view[name] ?? undefined)
      }),
    )
  }
}

function visitView({ deviceId, name, from, to, isBegun, isOpen, lastInsideAt }: NumberedVisit) {
  const open = isBegun ? (isOpen ? 'both' : 'before') : isOpen ? 'after' : null
  return {
    deviceId,
    name: name ?? null,
    from: isoTime(from),
    to: isoTime(to),
    seconds: (to - from) / 1_000,
    open,
    lastInsideAt: isoTime(lastInsideAt),
  }
}

const COLUMNS = ['deviceId', 'name', 'from', 'to', 'seconds', 'open', 'lastInsideAt'] as const

const CSV = 'text/csv; charset=utf-8'

const DESCRIPTION = `
By device, then by time. A device enters and leaves as it does a geofence without \`confirmSeconds\`, judged by its records in the
order of \`timestamp\`, so late and imported records count, and so do those from before a geofence was made. It enters with the
first record inside that is accurate enough, and leaves with the first one more than 20 m, and more than its accuracy, outside. A
device whose last record before \`from\` is inside is there from the beginning, however old that record: \`lastInsideAt\` says when it
was last known to be there.

Without \`from\` the range is the 24 hours before \`to\`, without \`to\` it ends now; it may have ${MOST_DAYS} days. All records in it are read,
a million in about a second.
`.trim()

const VISIT: JsonSchema = objectOf(
  {
    deviceId: { type: 'string' },
    name: { type: ['string', 'null'] },
    from: { ...TIME, description: 'The first record inside, or the beginning of the range' },
    to: { ...TIME, description: 'The first record outside, or the end of the range, or now' },
    seconds: { type: 'number', minimum: 0 },
    open: {
      type: ['string', 'null'],
      enum: ['before', 'after', 'both', null],
      description: 'Where the visit reaches beyond the range',
    },
    lastInsideAt: { ...TIME, description: 'Its last record before it left' },
  },
  { title: 'Visit' },
)

const VISIT_ROWS: JsonSchema = {
  title: 'VisitRows',
  type: 'string',
  description: `RFC 4180 with a header row: ${COLUMNS.join(', ')}. A text that begins with =, +, -, @, a tab or a line break has an apostrophe before it`,
}
