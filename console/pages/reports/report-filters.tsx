import { api } from '../../api/client.ts'
import { REPORT_COLUMNS } from '../../core/report-columns.ts'
import { GROUPINGS, type Grouping } from '../../core/report-rows.ts'
import { orderDays, monthOf, spanBeside, weekOf, type Span } from '../../core/span.ts'
import { isDay } from '../../core/times.ts'
import { FilterSelect } from '../../ui/filters.tsx'
import { Field, useTyped } from '../../ui/form.tsx'
import { isPhone } from '../../ui/phone.ts'
import { setQuery } from '../../ui/router.ts'
import { useLoad } from '../../ui/use-load.ts'

/** The days of a report, its devices, and its rows: all in the address. */
export function ReportFilters({
  span,
  today,
  grouping,
  label,
  sort,
}: {
  span: Span
  today: string
  grouping: Grouping
  label: string | undefined
  sort: string
}) {
  const { data: labels } = useLoad((signal) => api.get('/labels', { signal }), [])
  const [week, month] = [weekOf(today), monthOf(today)]
  const usual = {
    'This week': week,
    'Last week': spanBeside(week, -1),
    'This month': month,
    'Last month': spanBeside(month, -1),
  }
  return (
    <div class="report-filters stack some" role="search" aria-label="Choose the report">
      <div class="row" role="group" aria-label="Days">
        {Object.entries(usual).map(([words, one]) => (
          <button
            key={words}
            type="button"
            aria-pressed={one.first === span.first && one.last === span.last}
            onClick={() => setDays(one)}
          >
            {words}
          </button>
        ))}
      </div>
      <div class="filters">
        <DayField
          label="From"
          day={span.first}
          take={(day) => setDays(orderDays(day, span.last))}
        />
        <DayField label="To" day={span.last} take={(day) => setDays(orderDays(span.first, day))} />
        <FilterSelect
          name="group"
          label="By"
          none="Device"
          options={GROUPINGS.slice(1)}
          value={grouping === 'device' ? '' : grouping}
        />
        <FilterSelect
          name="label"
          label="Label"
          options={labels?.items.map(({ label }) => [label, label] as const) ?? []}
          value={label}
        />
        {isPhone.value && (
          <FilterSelect
            name="sort"
            label="Order"
            none="Distance"
            options={REPORT_COLUMNS.slice(1).map(({ id, title }) => [id, title] as const)}
            value={sort === 'distance' ? '' : sort}
          />
        )}
      </div>
    </div>
  )
}

function setDays({ first, last }: Span): void {
  setQuery({ from: first, to: last })
}

function DayField({
  label,
  day,
  take,
}: {
  label: string
  day: string
  take: (day: string) => void
}) {
  const typed = useTyped(day, (text) => {
    if (isDay(text)) take(text)
    return isDay(text)
  })
  return <Field name={label} label={label} type="date" min="2000-01-01" {...typed} />
}
