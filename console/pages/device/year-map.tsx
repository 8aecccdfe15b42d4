import { useLayoutEffect, useRef } from 'preact/hooks'
import { shortMonth } from '../../core/date-words.ts'
import { nextDay } from '../../core/times.ts'
import { dayCount, weekOf, type Span } from '../../core/span.ts'
import { createPreference } from '../../ui/preferences.ts'
import { formatCount, formatDistance } from '../../ui/shown.ts'
import { FailedLine } from '../../ui/states.tsx'
import { dayWords, useActivity, useDayKeys, useDayTotals, type DeviceDays } from './device-days.ts'

const CELL = 12
const GAP = 2
const STEP = CELL + GAP
const MONTHS_HEIGHT = 16
const SHADES = 4

/** The measure displayed for a year: `distance`, or else the number of reports. */
const shading = createPreference('shading', '', (text) => text)

/**
 * The days of a year as cells, one column per week; darker cells have more reports, or a longer
 * distance.
 */
export function YearMap({
  deviceId,
  year,
  span,
  today,
  zone,
  totals,
  onOpen,
}: DeviceDays & {
  year: Span
  onOpen: (span: Span) => void
}) {
  const activity = useActivity(deviceId, year, zone)
  const hasDistances = shading.value === 'distance'
  const monday = weekOf(year.first).first
  const days = Array.from({ length: dayCount(year) }, (_, index) => nextDay(year.first, index))
  const columnOf = (day: string) => Math.floor((dayCount({ first: monday, last: day }) - 1) / 7)
  const columns = columnOf(year.last) + 1
  const shown = span.last < today ? span.last : today
  const sumOf = useDayTotals(totals, hasDistances ? activity : undefined, shown)
  const metres = (day: string) => totals.days.value.get(day)?.distanceMetres ?? 0
  const countOf = (day: string) => activity?.get(day)?.count ?? 0
  const amount = hasDistances ? metres : countOf
  const most = Math.max(1, ...days.map(amount))
  // If the whole year is selected, a mark on each day would say nothing.
  const isWhole = span.first <= year.first && span.last >= year.last
  const isChosen = (day: string) => !isWhole && span.first <= day && day <= span.last
  const stop = days.includes(shown) ? shown : year.first
  const scroller = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const element = scroller.current
    const left = columnOf(stop) * STEP - (element?.clientWidth ?? 0) / 2
    element?.scrollTo({ left })
  }, [year.first])
  const all = sumOf(year)
  const failure = totals.failure.value
  const total = hasDistances
    ? `${formatDistance(all.distanceMetres)}${all.isWhole ? '' : ' …'}`
    : activity === undefined
      ? '…'
      : formatCount(
          days.reduce((sum, day) => sum + countOf(day), 0),
          'report',
        )
  const cells = useRef<SVGSVGElement>(null)
  const open = {
    label: 'Open the day',
    run: ({ target }: Event) => target?.dispatchEvent(new MouseEvent('click')),
  }
  useDayKeys(
    { title: 'In the calendar', element: cells },
    { ArrowLeft: -7, ArrowRight: 7, ArrowUp: -1, ArrowDown: 1 },
    { Enter: open, ' ': open },
  )

  return (
    <>
      <div ref={scroller} class="year-map" dir="ltr">
        <svg
          ref={cells}
          width={columns * STEP}
          height={MONTHS_HEIGHT + 7 * STEP}
          role="group"
          aria-label={`Days of ${year.first.slice(0, 4)}`}
        >
          {days
            .filter((day) => day.endsWith('-01'))
            .map((day) => (
              <text key={day} x={columnOf(day) * STEP} y={MONTHS_HEIGHT - 5}>
                {shortMonth(day)}
              </text>
            ))}
          {days.map((day) => {
            const distance = hasDistances ? metres(day) : 0
            const words = dayWords(
              day,
              countOf(day),
              distance ? formatDistance(distance) : undefined,
            )
            return (
              <rect
                key={day}
                x={columnOf(day) * STEP + 1}
                y={
                  MONTHS_HEIGHT +
                  (dayCount({ first: monday, last: day }) - 1 - columnOf(day) * 7) * STEP +
                  1
                }
                width={CELL}
                height={CELL}
                rx={2}
                class={`shade-${Math.ceil((amount(day) / most) * SHADES)}`}
                role="button"
                tabindex={day === stop ? 0 : -1}
                aria-label={words}
                aria-current={isChosen(day) ? 'date' : undefined}
                onClick={() => onOpen({ first: day, last: day })}
              >
                <title>{words}</title>
              </rect>
            )
          })}
        </svg>
      </div>
      {hasDistances && failure !== undefined && (
        <FailedLine failure={failure} onRetry={totals.retry} />
      )}
      <div class="row between">
        <p class="note">
          {total} in {year.first.slice(0, 4)}
        </p>
        <div class="row" role="group" aria-label="Shades">
          {(['', 'distance'] as const).map((one) => (
            <button
              key={one}
              type="button"
              class="small"
              aria-pressed={shading.value === one}
              onClick={() => (shading.value = one)}
            >
              {one === '' ? 'Reports' : 'Distance'}
            </button>
          ))}
        </div>
      </div>
    </>
  )
}
