import { api } from '../../api/client.ts'
import { REPORT_ORDERS } from '../../core/report-columns.ts'
import { GROUPINGS } from '../../core/report-rows.ts'
import { monthOf, rangeQuery, shiftSpan, spanBounds, weekOf } from '../../core/span.ts'
import { Filters, FilterRange, FilterSelect } from '../../ui/filters.tsx'
import { setQuery } from '../../ui/router.ts'
import { useLoad } from '../../ui/use-load.ts'

/** The range of a report, its devices, and its rows: all in the address. */
export function ReportFilters(shown: {
  range: { readonly from: string; readonly to: string }
  today: string
  zone: string
  grouping: string
  label: string | undefined
  sort: string
}) {
  const { range, today, zone, grouping, label, sort } = shown
  const { data: labels } = useLoad((signal) => api.get('/labels', { signal }), [])
  const [week, month] = [weekOf(today), monthOf(today)]
  const usual = {
    'This week': week,
    'Last week': shiftSpan(week, -1),
    'This month': month,
    'Last month': shiftSpan(month, -1),
  }
  return (
    <>
      <div class="report-ranges row" role="group" aria-label="Days">
        {Object.entries(usual).map(([words, span]) => {
          const one = rangeQuery(spanBounds(span, zone))
          return (
            <button
              key={words}
              type="button"
              aria-pressed={one.from === range.from && one.to === range.to}
              onClick={() => setQuery(one)}
            >
              {words}
            </button>
          )
        })}
      </div>
      <Filters label="Choose the report" isUsed={false}>
        <FilterRange range={range} />
        <FilterSelect
          name="group"
          label="By"
          none="Device"
          options={GROUPINGS.slice(1).map(([value, words]) => [value, words])}
          value={grouping === 'device' ? '' : grouping}
        />
        <FilterSelect
          name="sort"
          label="Order"
          none="Distance"
          options={REPORT_ORDERS}
          value={sort === 'distance' ? '' : sort}
        />
        <FilterSelect
          name="label"
          label="Label"
          options={labels?.items.map(({ label }) => [label, label] as const) ?? []}
          value={label}
        />
      </Filters>
    </>
  )
}
