import { objectOf, type JsonSchema } from '../../runtime/openapi/json-schema.ts'
import { pageOf } from '../http/answer-page.ts'
import { isoTime, TIME } from '../http/views.ts'
import type { DeviceReport, ReportPeriod } from './read-reports.ts'

/** A device's report as the API shows it. */
export function reportView({ deviceId, name, labels, whole, periods }: DeviceReport) {
  const device = { deviceId, name, labels, ...periodView(whole) }
  return periods === undefined ? device : { ...device, periods: periods.map(periodView) }
}

function periodView({ from, to, drivingMs, firstStart, lastEnd, ...counts }: ReportPeriod) {
  return {
    from: isoTime(from),
    to: isoTime(to),
    ...counts,
    drivingSeconds: drivingMs / 1_000,
    firstStart: firstStart === null ? null : isoTime(firstStart),
    lastEnd: lastEnd === null ? null : isoTime(lastEnd),
  }
}

const COUNT: JsonSchema = { type: 'integer', minimum: 0 }
const AMOUNT: JsonSchema = { type: 'number', minimum: 0 }
const TIME_OR_NONE: JsonSchema = { ...TIME, type: ['string', 'null'] }

const OF_PERIOD = {
  from: TIME,
  to: TIME,
  distanceMetres: AMOUNT,
  drivingSeconds: { ...AMOUNT, description: 'From the start of each trip to its end' },
  trips: COUNT,
  stops: COUNT,
  maxSpeed: { type: ['number', 'null'], description: 'Metres per second' },
  firstStart: { ...TIME_OR_NONE, description: 'When the first trip began' },
  lastEnd: { ...TIME_OR_NONE, description: 'When the last trip ended' },
  raised: { ...COUNT, description: 'Rules raised' },
  visits: { ...COUNT, description: 'Geofences entered' },
} as const satisfies Readonly<Record<string, JsonSchema>>

const PERIOD_COLUMNS = Object.keys(OF_PERIOD) as (keyof typeof OF_PERIOD)[]

export const DEVICE_REPORTS: JsonSchema = pageOf(
  objectOf(
    {
      deviceId: { type: 'string' },
      name: { type: ['string', 'null'] },
      labels: { type: 'array', items: { type: 'string' }, description: 'Sorted' },
      ...OF_PERIOD,
      periods: { type: 'array', items: objectOf(OF_PERIOD, { title: 'ReportPeriod' }) },
    },
    { title: 'DeviceReport', optional: ['periods'] },
  ),
)

export const REPORT_CSV = 'text/csv; charset=utf-8'

export const reportHead = ['deviceId', 'name', 'labels', ...PERIOD_COLUMNS] as const

export const REPORT_ROWS: JsonSchema = {
  title: 'ReportRows',
  type: 'string',
  description: `RFC 4180 with a header row: ${reportHead.join(', ')}; labels are joined by commas. A text that begins with =, +, -, @, a tab or a line break has an apostrophe before it`,
}

/** A row for the device, or for each of its periods. */
export function reportRows({ deviceId, name, labels, whole, periods }: DeviceReport) {
  const device = [deviceId, name ?? undefined, labels.join(', ')]
  return (periods ?? [whole]).map((period) => {
    const view = periodView(period)
    return [...device, ...PERIOD_COLUMNS.map((column) => view[column] ?? undefined)]
  })
}
