import './reports.css'
import { useState } from 'preact/hooks'
import { ChartNoAxesColumn } from 'lucide'
import { allPages, api } from '../../api/client.ts'
import { reportCsv, sortReport } from '../../core/report-columns.ts'
import { GROUPINGS, periodOf, reportRows } from '../../core/report-rows.ts'
import { dayCount, rangeQuery, spanBounds, spanIn, spanText, weekOf } from '../../core/span.ts'
import { date } from '../../core/times.ts'
import { now } from '../../ui/clock.ts'
import { Page } from '../../ui/page.tsx'
import { readerZone } from '../../ui/preferences.ts'
import { pickParameters, pageAddress } from '../../ui/router.ts'
import { saveFile } from '../../ui/save-file.ts'
import { formatCount, formatDateTime, readerUnits } from '../../ui/shown.ts'
import { Empty, Loaded } from '../../ui/states.tsx'
import { useLoad } from '../../ui/use-load.ts'
import { ExportEvents } from '../events/export-events.tsx'
import { ReportFilters } from './report-filters.tsx'
import { ReportTable } from './report-table.tsx'

const MOST_DAYS = 400

/** What devices did on some days: by default this week, by device. */
export function ReportsPage() {
  const { query } = pageAddress.value
  const zone = readerZone()
  const today = date(now.value, zone)
  const { group, label, sort = 'distance' } = pickParameters(query, ['group', 'label', 'sort'])
  const [grouping, title] = GROUPINGS.find(([one]) => one === group) ?? GROUPINGS[0]
  const span = query.has('from') ? spanIn(query, today) : weekOf(today)
  const days = rangeQuery(spanBounds(span, zone))
  const by = periodOf(grouping)
  const [count, setCount] = useState(0)
  const isTooLong = dayCount(span) > MOST_DAYS
  const load = useLoad(
    async (signal) => {
      const asked = { ...days, zone, ...(by && { by }), ...(label && { label: [label] }) }
      let known = 0
      if (isTooLong) return []
      return allPages(async (cursor) => {
        const page = await api.get('/reports/devices', { query: { ...asked, cursor }, signal })
        setCount((known += page.items.length))
        return page
      })
    },
    [days, zone, by, label],
  )
  const { data: reports = [] } = load
  const rows = reportRows(reports, grouping)
  const names = new Map(reports.map(({ deviceId, name }) => [deviceId, name]))
  const reader = { units: readerUnits(), zone, moment: (ms: number) => formatDateTime(ms) }
  function saveCsv() {
    const csv = reportCsv(sortReport(rows, sort), reader)
    saveFile(`report ${span.first} ${span.last}.csv`, csv, 'text/csv')
  }
  return (
    <Page
      title="Reports"
      wide
      actions={
        <>
          <ExportEvents
            filter={{ type: 'rule.raised', ...days, ...(label && { label }) }}
            nameOf={({ deviceId }) => names.get(deviceId) ?? deviceId}
            words="Rules raised as CSV"
          />
          <button type="button" disabled={rows.length === 0} onClick={saveCsv}>
            Export as CSV
          </button>
          <button type="button" onClick={() => print()}>
            Print
          </button>
        </>
      }
    >
      <ReportFilters {...{ span, today, grouping, label, sort }} />
      <h2 class="report-days">{[spanText(span, ''), label].filter(Boolean).join(' · ')}</h2>
      {load.isLoading && count > 0 && <p class="note">{formatCount(count, 'device')} so far …</p>}
      <Loaded of={load}>
        {() =>
          rows.length === 0 ? (
            <Empty
              title={
                isTooLong ? `At most ${MOST_DAYS} days make a report` : 'Nothing on these days'
              }
              icon={ChartNoAxesColumn}
            />
          ) : (
            <ReportTable {...{ reports, rows, title, sort, today, reader }} />
          )
        }
      </Loaded>
    </Page>
  )
}
