import './reports.css'
import { ChartNoAxesColumn } from 'lucide'
import { addTotals, NO_TOTALS } from '../../../schemas/devices/report-totals.ts'
import { allPages, api } from '../../api/client.ts'
import { addressOf, devicePath } from '../../core/address.ts'
import { REPORT_COLUMNS, reportCsv, sortReport } from '../../core/report-columns.ts'
import { GROUPINGS, reportRows, type ReportRow } from '../../core/report-rows.ts'
import { rangeQuery, spanBounds, spanQuery, spanText, weekOf } from '../../core/span.ts'
import { date } from '../../core/times.ts'
import { now } from '../../ui/clock.ts'
import { Isolated } from '../../ui/isolated.tsx'
import { Page } from '../../ui/page.tsx'
import { readerZone } from '../../ui/preferences.ts'
import { pickParameters, pageAddress } from '../../ui/router.ts'
import { saveFile } from '../../ui/save-file.ts'
import { formatCount, formatDateTime, readerUnits } from '../../ui/shown.ts'
import { Empty, Loaded } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'
import { useLoad } from '../../ui/use-load.ts'
import { ExportEvents } from '../events/export-events.tsx'
import { ReportFilters } from './report-filters.tsx'

const MOST_SHOWN = 1_000
const SUMMED = ['distance', 'driving', 'stops', 'raised', 'visits']

/** Reports of a range, by default this week, longest distance first. */
export function ReportsPage() {
  const zone = readerZone()
  const today = date(now.value, zone)
  const { query } = pageAddress.value
  const { group, label, sort = 'distance' } = pickParameters(query, ['group', 'label', 'sort'])
  const week = rangeQuery(spanBounds(weekOf(today), zone))
  const range = { ...week, ...pickParameters(query, ['from', 'to']) }
  const [grouping, title, by] = GROUPINGS.find(([one]) => one === group) ?? GROUPINGS[0]
  const asked = { ...range, zone, ...(by && { by }), ...(label && { label: [label] }) }
  const load = useLoad(
    (signal) =>
      allPages((cursor) => api.get('/reports/devices', { query: { ...asked, cursor }, signal })),
    [asked],
  )
  const { data: reports = [] } = load
  const rows = sortReport(reportRows(reports, grouping), sort)
  const names = new Map(reports.map(({ deviceId, name }) => [deviceId, name]))
  const reader = { units: readerUnits(), zone, moment: (ms: number) => formatDateTime(ms) }
  const daysOf = ({ from, to }: { readonly from: string; readonly to: string }) => ({
    first: date(Date.parse(from), zone),
    last: date(Date.parse(to) - 1, zone),
  })
  const days = daysOf(range)
  const file = `report ${days.first} ${days.last}.csv`
  const [distance] = REPORT_COLUMNS
  const sorted = REPORT_COLUMNS.find(({ id }) => id === sort.replace('-', ''))
  const { value } = sorted === undefined || sorted.isTime === true ? distance : sorted
  const full = Math.max(1, ...rows.map((row) => value(row) ?? 0))
  const sum = { key: '', ...range, ...reports.reduce(addTotals, NO_TOTALS) }
  const sums = REPORT_COLUMNS.filter(({ id }) => SUMMED.includes(id)).map(
    ({ title, value, text }) => `${title.toLowerCase()} ${text(value(sum) ?? 0, reader)}`,
  )

  function nameCell(row: ReportRow) {
    const own = daysOf(row)
    const words = [by && spanText(own, today), row.name].filter(Boolean).join(' · ')
    const text = <Isolated class="one-line">{words}</Isolated>
    const path = row.deviceId && devicePath(row.deviceId) + spanQuery(own, today)
    return (
      <div class="report-name" title={words}>
        {path === undefined ? text : <a href={addressOf(path)}>{text}</a>}
        <span class="report-bar" style={{ width: `${(100 * (value(row) ?? 0)) / full}%` }} />
      </div>
    )
  }

  return (
    <Page
      title="Reports"
      wide
      actions={
        <>
          <ExportEvents
            filter={{ type: 'rule.raised', ...range, ...(label && { label }) }}
            nameOf={({ deviceId }) => names.get(deviceId) ?? deviceId}
            words="Rules raised as CSV"
          />
          <button
            type="button"
            disabled={rows.length === 0}
            onClick={() => saveFile(file, reportCsv(rows, reader), 'text/csv')}
          >
            Export as CSV
          </button>
          <button type="button" onClick={() => print()}>
            Print
          </button>
        </>
      }
    >
      <ReportFilters {...{ range, today, zone, grouping, label, sort }} />
      <h2 class="report-days">{[spanText(days, ''), label].filter(Boolean).join(' · ')}</h2>
      <Loaded of={load}>
        {() =>
          rows.length === 0 ? (
            <Empty title="Nothing happened on these days" icon={ChartNoAxesColumn} />
          ) : (
            <>
              <p>
                {[formatCount(reports.length, 'device'), ...sums].join(' · ')}
                {rows.length > MOST_SHOWN && `. The first ${MOST_SHOWN} rows; a file has all.`}
              </p>
              <Table
                caption={`Report by ${title.toLowerCase()}`}
                rows={rows.slice(0, MOST_SHOWN)}
                keyOf={({ key }) => key}
                columns={[
                  { title, cell: nameCell },
                  ...REPORT_COLUMNS.map(({ title, value, text }) => ({
                    title,
                    cell: (row: ReportRow) => {
                      const number = value(row)
                      return number === null ? '' : text(number, reader)
                    },
                    isNumber: true,
                  })),
                ]}
              />
            </>
          )
        }
      </Loaded>
    </Page>
  )
}
