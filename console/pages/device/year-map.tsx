import { useLayoutEffect, useRef } from 'preact/hooks'
import { dateText, nextDay } from '../../core/days.ts'
import { dayCount, weekOf, type Span } from '../../core/span.ts'
import { shownNumber } from '../../ui/shown.ts'
import type { DeviceDays } from './device-days.ts'
import { dayWords, moveAmong, useActivity } from './activity.ts'

const CELL = 12
const GAP = 2
const STEP = CELL + GAP
const MONTHS_HEIGHT = 16
const SHADES = 4

/** The days of a year as cells, a column for each week, the darker the more was reported. */
export function YearMap({
  deviceId,
  year,
  span,
  today,
  zone,
  onOpen,
}: DeviceDays & {
  year: Span
  onOpen: (span: Span) => void
}) {
  const activity = useActivity(deviceId, year, zone)
  const most = Math.max(1, ...[...activity.values()].map(({ count }) => count))
  const monday = weekOf(year.first).first
  const days = Array.from({ length: dayCount(year) }, (_, index) => nextDay(year.first, index))
  const columnOf = (day: string) => Math.floor((dayCount({ first: monday, last: day }) - 1) / 7)
  const columns = columnOf(year.last) + 1
  const shown = span.last < today ? span.last : today
  const stop = days.includes(shown) ? shown : year.first
  const scroller = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const element = scroller.current
    const left = columnOf(stop) * STEP - (element?.clientWidth ?? 0) / 2
    element?.scrollTo({ left })
  }, [year.first])
  const total = [...activity.values()].reduce((sum, { count }) => sum + count, 0)

  return (
    <>
      <div ref={scroller} class="year-map" dir="ltr">
        <svg
          width={columns * STEP}
          height={MONTHS_HEIGHT + 7 * STEP}
          role="group"
          aria-label={`Days of ${year.first.slice(0, 4)}`}
          onKeyDown={(event) =>
            moveAmong(event, { ArrowLeft: -7, ArrowRight: 7, ArrowUp: -1, ArrowDown: 1 })
          }
        >
          {days
            .filter((day) => day.endsWith('-01'))
            .map((day) => (
              <text key={day} x={columnOf(day) * STEP} y={MONTHS_HEIGHT - 5}>
                {dateText(day, day).slice(2)}
              </text>
            ))}
          {days.map((day) => {
            const count = activity.get(day)?.count ?? 0
            const open = () => onOpen({ first: day, last: day })
            const words = dayWords(day, count)
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
                class={`shade-${Math.ceil((count / most) * SHADES)}`}
                role="button"
                tabindex={day === stop ? 0 : -1}
                aria-label={words}
                aria-current={span.first <= day && day <= span.last ? 'date' : undefined}
                onClick={open}
                onKeyDown={({ key }) => (key === 'Enter' || key === ' ') && open()}
              >
                <title>{words}</title>
              </rect>
            )
          })}
        </svg>
      </div>
      <p class="note">
        {shownNumber(total)} reports in {year.first.slice(0, 4)}
      </p>
    </>
  )
}
