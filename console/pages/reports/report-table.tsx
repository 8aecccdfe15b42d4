import { addTotals, NO_TOTALS } from '../../../schemas/devices/report-totals.ts'
import { addressOf, devicePath } from '../../core/address.ts'
import { REPORT_COLUMNS, sortReport, type ReportReader } from '../../core/report-columns.ts'
import type { ApiReport, ReportRow } from '../../core/report-rows.ts'
import { spanQuery, spanText } from '../../core/span.ts'
import { date } from '../../core/times.ts'
import { Isolated } from '../../ui/isolated.tsx'
import { isPhone } from '../../ui/phone.ts'
import { setQuery } from '../../ui/router.ts'
import { formatCount } from '../../ui/shown.ts'
import { Table } from '../../ui/table.tsx'

const MOST_SHOWN = 1_000

/** The rows of a report with a bar each, and the sum of all devices above them. */
export function ReportTable({
  reports,
  rows,
  title,
  sort,
  today,
  reader,
}: {
  reports: readonly ApiReport[]
  rows: readonly ReportRow[]
  /** What the rows are. */
  title: string
  sort: string
  today: string
  reader: ReportReader
}) {
  const [distance] = REPORT_COLUMNS
  const sorted = REPORT_COLUMNS.find(({ id }) => id === sort.replace('-', ''))
  const { value } = sorted === undefined || sorted.isTime === true ? distance : sorted
  const full = Math.max(1, ...rows.map((row) => value(row) ?? 0))
  const [first] = reports
  const sum = { key: '', from: '', to: '', ...reports.reduce(addTotals, NO_TOTALS) }
  const sums = REPORT_COLUMNS.filter(({ id }) => SUMMED.includes(id)).map(
    ({ title, value, text }) => `${title.toLowerCase()} ${text(value(sum) ?? 0, reader)}`,
  )

  function nameCell(row: ReportRow) {
    const [from, to] = [Date.parse(row.from), Date.parse(row.to) - 1]
    const days = { first: date(from, reader.zone), last: date(to, reader.zone) }
    const isPart = row.from !== first?.from || row.to !== first.to
    const words = [row.name, (isPart || row.name === undefined) && spanText(days, today)]
    const text = <Isolated>{words.filter(Boolean).join(' · ')}</Isolated>
    const path = row.deviceId && devicePath(row.deviceId) + spanQuery(days, today)
    return (
      <div class="report-name">
        {path === undefined ? text : <a href={addressOf(path)}>{text}</a>}
        <span class="report-bar" style={{ width: `${(100 * (value(row) ?? 0)) / full}%` }} />
      </div>
    )
  }

  /** Sorts by the column, or reverses it. On a phone the titles are not shown. */
  function sortable(id: string, isTime?: true) {
    const isUp = sort.startsWith('-') !== (isTime === true)
    return {
      ...(!isPhone.value && { sort: () => setQuery({ sort: sort === id ? `-${id}` : id }) }),
      ...(sort.replace('-', '') === id && {
        isSorted: isUp ? ('ascending' as const) : ('descending' as const),
      }),
    }
  }

  return (
    <>
      <p>
        {[formatCount(reports.length, 'device'), ...sums].join(' · ')}
        {rows.length > MOST_SHOWN && ` · the first ${MOST_SHOWN} rows are shown, a file has all`}
      </p>
      <Table
        caption={`Report by ${title.toLowerCase()}`}
        rows={sortReport(rows, sort).slice(0, MOST_SHOWN)}
        keyOf={({ key }) => key}
        columns={[
          { title, cell: nameCell, ...sortable('name', true) },
          ...REPORT_COLUMNS.map(({ id, title, value, text, isTime }) => ({
            title,
            cell: (row: ReportRow) => {
              const number = value(row)
              return number === null ? '' : text(number, reader)
            },
            isNumber: true,
            ...sortable(id, isTime),
          })),
        ]}
      />
    </>
  )
}

const SUMMED = ['distance', 'driving', 'stops', 'raised', 'visits']
