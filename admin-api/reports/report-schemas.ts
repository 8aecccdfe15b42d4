import { objectOf, type JsonSchema } from '../../runtime/openapi/json-schema.ts'
import { csvText } from '../devices/export/csv.ts'
import { LABELS } from '../devices/label-rules.ts'
import { pageOf } from '../http/answer-page.ts'
import { TIME } from '../http/views.ts'
import type { DeviceReport } from './read-reports.ts'

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

export const DEVICE_REPORTS: JsonSchema = pageOf(
  objectOf(
    {
      deviceId: { type: 'string' },
      name: { type: ['string', 'null'] },
      labels: LABELS,
      ...OF_PERIOD,
      periods: { type: 'array', items: objectOf(OF_PERIOD, { title: 'ReportPeriod' }) },
    },
    { title: 'DeviceReport', optional: ['periods'] },
  ),
)

const FIGURES = Object.keys(OF_PERIOD) as (keyof typeof OF_PERIOD)[]
const COLUMNS = ['deviceId', 'name', 'labels', ...FIGURES]

export const REPORT_CSV = 'text/csv; charset=utf-8'

export const REPORT_ROWS: JsonSchema = {
  title: 'ReportRows',
  type: 'string',
  description: `RFC 4180 with a header row: ${COLUMNS.join(', ')}; labels are joined by commas. A text that begins with =, +, -, @, a tab or a line break has an apostrophe before it`,
}

/** A file with a row for each device, or for each of its periods. */
export async function* reportLines(
  reports: AsyncIterable<readonly DeviceReport[]>,
): AsyncGenerator<string, void> {
  yield csvText([COLUMNS])
  for await (const some of reports) {
    const rows = some.flatMap(({ deviceId, name, labels, periods, ...whole }) =>
      (periods ?? [whole]).map((period) => [
        ...[deviceId, name ?? undefined, labels.join(', ')],
        ...FIGURES.map((figure) => period[figure] ?? undefined),
      ]),
    )
    if (rows.length > 0) yield csvText(rows)
  }
}
