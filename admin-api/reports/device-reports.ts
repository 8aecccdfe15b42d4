import { Readable } from 'node:stream'
import type { Clock } from '../../runtime/clock.ts'
import { openPages, type PageBounds } from '../../runtime/process/read-pages.ts'
import { isListed } from '../../schemas/devices/device-id.ts'
import type { DevicePlace } from '../../store/read-models.ts'
import type { Store } from '../../store/store.ts'
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
import { readReports } from './read-reports.ts'
import { daysOf, PERIODS } from './report-days.ts'
import { DEVICE_REPORTS, REPORT_CSV, REPORT_ROWS, reportLines } from './report-schemas.ts'
import { tripTotals } from './trip-totals.ts'

const USUAL_RANGE_MS = 7 * 24 * 60 * 60_000
const EXPORTED_AT_ONCE = 1_000

const REPORT_PARAMETERS = {
  ...PAGE_PARAMETERS,
  ...rangeParameters('time'),
  zone: zoneParameter('zone')
    .withDefault('UTC')
    .described('The time zone for days, weeks and months'),
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
export function deviceReportsRoute(deps: {
  store: Store
  clock: Clock
  turns: HistoryTurns
}): AdminRoute {
  const { store, clock } = deps
  const totalsOf = tripTotals(deps)

  async function list(
    ctx: AdminContext,
    caller: Caller,
    { query: { limit, cursor, format, ...filter } }: Input<InputOf<typeof REPORT_PARAMETERS>>,
  ): Promise<void> {
    const { zone, by, label: labels, to = clock.now(), from = to - USUAL_RANGE_MS } = filter
    const range = { from, to }
    requireShortRange(range)
    const { accountId } = caller
    const list = { name: 'device reports', accountId, filter }
    const [deviceId, value = null] = readCursor(cursor, list, ['text', 'number or none']) ?? []
    const days = daysOf(range, zone)
    const isWanted = () => !ctx.req.socket.destroyed

    async function placesOf(page: PageBounds<DevicePlace>): Promise<readonly DevicePlace[]> {
      const devices = deviceList(caller)
      const only = filter.deviceId
      const query = { accountId, ...page, ...(labels && { labels }), ...(devices && { devices }) }
      if (only === undefined) return store.placeDevices(query)
      const device = isListed(devices, only)
        ? await store.findDevice({ accountId, deviceId: only })
        : undefined
      const isFound = labels?.every((label) => device?.settings.labels?.includes(label)) !== false
      return device !== undefined && isFound ? [{ deviceId: only, value: null }] : []
    }

    async function* reportsOf(
      pages: AsyncIterable<readonly DevicePlace[]> | Iterable<readonly DevicePlace[]>,
    ) {
      for await (const places of pages) {
        const deviceIds = places.map((place) => place.deviceId)
        yield* readReports({ accountId, deviceIds, days, range, by }, { store, totalsOf, isWanted })
      }
    }

    if (format === 'csv') {
      const pages = await openPages<DevicePlace>(EXPORTED_AT_ONCE, placesOf)
      ctx.set('Content-Type', REPORT_CSV)
      ctx.attachment('reports.csv')
      ctx.body = Readable.from(reportLines(reportsOf(pages)))
      return
    }
    const after = deviceId === undefined ? {} : { after: { deviceId, value } }
    const places = await placesOf({ limit: limit + 1, ...after })
    const shown = places.slice(0, limit)
    const last = places.length > limit ? shown.at(-1) : undefined
    await answerInParts(ctx, {
      name: 'items',
      parts: reportsOf([shown]),
      after: () => ({
        nextCursor: last === undefined ? null : writeCursor(list, [last.deviceId, last.value]),
      }),
    })
  }

  return route({
    method: 'GET',
    path: '/reports/devices',
    summary: 'Returns totals of each device: distance, driving, stops, rules raised',
    description: DESCRIPTION,
    needs: 'viewer',
    scope: 'positions:read',
    query: REPORT_PARAMETERS,
    compressed: true,
    answer: { data: DEVICE_REPORTS, content: { [REPORT_CSV]: REPORT_ROWS } },
    handle: list,
  })
}

const DESCRIPTION = `
Without \`from\` the range is the 7 days before \`to\`; it may have ${MOST_DAYS} days. Every device of the account, or of the
key, is listed, in the order of their ids. Trips and stops are those of \`/devices/:deviceId/trips\`; each counts, whole, in
the period in which it begins, so the totals of days add up. \`raised\` and \`visits\` count the events \`rule.raised\` and
\`geofence.entered\`. With \`by\` an item also has \`periods\`, without those in which nothing happened; then a row of
\`format=csv\` is a period, otherwise a device. The file comes as it is read, without a Content-Length.
`.trim()
