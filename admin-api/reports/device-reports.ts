import { Readable } from 'node:stream'
import type { Clock } from '../../runtime/clock.ts'
import { isListed } from '../../schemas/devices/device-id.ts'
import type { DevicePlace } from '../../store/read-models.ts'
import type { Store } from '../../store/store.ts'
import { csvText } from '../devices/export/csv.ts'
import type { HistoryTurns } from '../devices/history-turns.ts'
import { labelParameter } from '../devices/label-rules.ts'
import { route, type AdminContext, type AdminRoute, type Input } from '../http/admin-route.ts'
import { answerInParts } from '../http/answer-in-parts.ts'
import { deviceList, type Caller } from '../http/caller.ts'
import { readCursor, writeCursor } from '../http/cursor.ts'
import {
  MOST_DAYS,
  PAGE_PARAMETERS,
  rangeParameters,
  requireShortRange,
  textParameter,
  zoneParameter,
} from '../http/query.ts'
import { choice, type InputOf } from '../http/rule.ts'
import { daysOf, PERIODS } from './report-days.ts'
import {
  DEVICE_REPORTS,
  REPORT_CSV,
  REPORT_ROWS,
  reportHead,
  reportRows,
  reportView,
} from './report-views.ts'
import { readReports, type DeviceReport } from './read-reports.ts'
import { TripTotalsOfDays } from './trip-totals.ts'

const USUAL_RANGE_MS = 7 * 24 * 60 * 60_000
const PLACED_AT_ONCE = 1_000

const REPORT_PARAMETERS = {
  ...PAGE_PARAMETERS,
  ...rangeParameters('time'),
  zone: zoneParameter('zone')
    .withDefault('UTC')
    .described('The time zone whose days, weeks and months are meant'),
  by: choice(PERIODS, { expected: `by must be ${PERIODS.join(' or ')}` }).described(
    'Adds the totals of each day, week from Monday, or month',
  ),
  label: labelParameter,
  deviceId: textParameter('deviceId', 128).described('Only this device'),
  format: choice(['json', 'csv'], { expected: 'format must be json or csv' })
    .withDefault('json')
    .described('json is a page of the list; csv is all devices as a file'),
}

/** The totals of each device in a range: distance, driving, stops, rules raised. */
export function deviceReportsRoute({
  store,
  clock,
  turns,
}: {
  store: Store
  clock: Clock
  turns: HistoryTurns
}): AdminRoute {
  const tripTotals = new TripTotalsOfDays({ store, clock, turns })

  async function list(
    ctx: AdminContext,
    caller: Caller,
    { query: { limit, cursor, format, ...filter } }: Input<InputOf<typeof REPORT_PARAMETERS>>,
  ): Promise<void> {
    const { zone, by, to = clock.now(), from = to - USUAL_RANGE_MS } = filter
    requireShortRange({ from, to })
    const { accountId } = caller
    const list = { name: 'device reports', accountId, filter }
    const [deviceId, value] = readCursor(cursor, list, ['text', 'number or none']) ?? []
    const range = { from, to }
    const query = { accountId, range, by, days: daysOf(range, zone) }
    const isWanted = () => !ctx.req.socket.destroyed
    const reportsOf = (places: readonly DevicePlace[]) =>
      readReports(
        { ...query, deviceIds: places.map((place) => place.deviceId) },
        { store, tripTotals, isWanted },
      )
    if (format === 'csv') return exportReports(ctx, reportsOfAll(caller, filter, reportsOf))
    const after = deviceId === undefined || value === undefined ? undefined : { deviceId, value }
    const places = await placesOf(caller, filter, { limit: limit + 1, after })
    const shown = places.slice(0, limit)
    const last = places.length > limit ? shown.at(-1) : undefined
    await answerInParts(ctx, {
      name: 'items',
      parts: viewsOf(reportsOf(shown)),
      after: () => ({
        nextCursor: last === undefined ? null : writeCursor(list, [last.deviceId, last.value]),
      }),
    })
  }

  async function placesOf(
    caller: Caller,
    { label, deviceId }: Pick<InputOf<typeof REPORT_PARAMETERS>, 'label' | 'deviceId'>,
    { limit, after }: { limit: number; after?: DevicePlace | undefined },
  ): Promise<readonly DevicePlace[]> {
    const { accountId } = caller
    const visible = deviceList(caller)
    if (deviceId !== undefined) {
      const device = isListed(visible, deviceId)
        ? await store.findDevice({ accountId, deviceId })
        : undefined
      const labels = device?.settings.labels ?? []
      const isFound = device !== undefined && label?.every((one) => labels.includes(one)) !== false
      return isFound ? [{ deviceId, value: null }] : []
    }
    return store.placeDevices({
      accountId,
      limit,
      ...(after !== undefined && { after }),
      ...(visible !== undefined && { devices: visible }),
      ...(label !== undefined && { labels: label }),
    })
  }

  async function* reportsOfAll(
    caller: Caller,
    filter: Parameters<typeof placesOf>[1],
    reportsOf: (places: readonly DevicePlace[]) => AsyncIterable<readonly DeviceReport[]>,
  ): AsyncGenerator<readonly DeviceReport[], void> {
    let after: DevicePlace | undefined
    do {
      const places = await placesOf(caller, filter, { limit: PLACED_AT_ONCE, after })
      yield* reportsOf(places)
      after = places.length < PLACED_AT_ONCE ? undefined : places.at(-1)
    } while (after !== undefined)
  }

  return route({
    method: 'GET',
    path: '/reports/devices',
    summary: 'Totals of each device: distance, driving, stops, rules raised',
    description: DESCRIPTION,
    needs: 'viewer',
    scope: 'positions:read',
    query: REPORT_PARAMETERS,
    compressed: true,
    answer: { data: DEVICE_REPORTS, content: { [REPORT_CSV]: REPORT_ROWS } },
    handle: list,
  })
}

async function* viewsOf(
  reports: AsyncIterable<readonly DeviceReport[]>,
): AsyncGenerator<readonly object[], void> {
  for await (const some of reports) yield some.map(reportView)
}

/** The first device is read before this returns, so an unavailable store causes a 503. */
async function exportReports(
  ctx: AdminContext,
  reports: AsyncGenerator<readonly DeviceReport[], void>,
): Promise<void> {
  const first = await reports.next()
  ctx.set('Content-Type', REPORT_CSV)
  ctx.attachment('reports.csv')
  ctx.body = Readable.from(rows())

  async function* rows(): AsyncGenerator<string, void> {
    yield csvText([[...reportHead]])
    if (first.done === true) return
    yield csvText(first.value.flatMap(reportRows))
    for await (const some of reports) yield csvText(some.flatMap(reportRows))
  }
}

const DESCRIPTION = `
Without \`from\` the range is the 7 days before \`to\`; it may have ${MOST_DAYS} days. Every device of the account, or of the
key, is listed, in the order of their ids. Trips and stops are those of \`/devices/:deviceId/trips\`; each counts, whole, in
the period in which it begins, so the totals of days add up. \`raised\` and \`visits\` count the facts \`rule.raised\` and
\`geofence.entered\`. With \`by\` an item also has \`periods\`, without those in which nothing happened; then a row of
\`format=csv\` is a period, otherwise a device. The file comes as it is read, without a Content-Length.
`.trim()
