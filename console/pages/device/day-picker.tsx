import './day-picker.css'
import { useRef } from 'preact/hooks'
import { ChevronLeft, ChevronRight } from 'lucide'
import { isDay, nextDay } from '../../core/days.ts'
import { isOneDay, spanBeside, spanQuery, spanText, type Span } from '../../core/span.ts'
import { IconButton } from '../../ui/icon.tsx'
import { devicePath } from '../../core/address.ts'
import { go } from '../../ui/router.ts'
import { useTyped } from '../../ui/use-typed.ts'
import { Calendar } from './calendar.tsx'
import { dayWords, useActivity, useDayKeys, type DeviceDays } from './device-days.ts'

const DAYS = 30

/**
 * Picks days: the previous, the next, a typed one, one of the latest with data, or any from the
 * calendar.
 */
export function DayPicker({ deviceId, span, today, zone, totals }: DeviceDays) {
  const day = span.last < today ? span.last : today
  const last = day > nextDay(today, -DAYS) ? today : nextDay(day, DAYS / 2)
  const first = nextDay(last, 1 - DAYS)
  const activity = useActivity(deviceId, { first, last }, zone)
  const most = Math.max(1, ...[...(activity?.values() ?? [])].map(({ count }) => count))
  const open = (to: Span) => go(`${devicePath(deviceId)}${spanQuery(to, today)}`)
  const openDay = (one: string) => open({ first: one, last: one })
  const typedDay = useTyped(day, (typed) => {
    if (isDay(typed)) openDay(typed)
    return isDay(typed)
  })
  const [before, after] = isOneDay(span)
    ? ['Previous day', 'Next day']
    : ['Previous days', 'Next days']

  const strip = useRef<HTMLOListElement>(null)
  useDayKeys({ title: 'In the row of days', element: strip }, { ArrowLeft: -1, ArrowRight: 1 })

  return (
    <div class="day-picker row" role="group" aria-label="Day">
      <h2 class="day-words">{spanText(span, today)}</h2>
      <ol ref={strip} class="day-strip">
        {Array.from({ length: DAYS }, (_, index) => nextDay(first, index)).map((one) => {
          const count = activity?.get(one)?.count ?? 0
          const words = dayWords(one, count)
          return (
            <li key={one}>
              <button
                type="button"
                aria-label={words}
                title={words}
                aria-current={span.first <= one && one <= span.last ? 'date' : undefined}
                tabIndex={one === day ? 0 : -1}
                onClick={() => openDay(one)}
              >
                <span
                  class="day-bar"
                  style={{ height: count === 0 ? '0' : `${20 + 80 * (count / most)}%` }}
                />
              </button>
            </li>
          )
        })}
      </ol>
      <div class="day-buttons">
        <IconButton
          icon={ChevronLeft}
          label={before}
          small
          onClick={() => open(spanBeside(span, -1))}
        />
        <input type="date" aria-label="Day" min="2000-01-01" max={today} {...typedDay} />
        <IconButton
          icon={ChevronRight}
          label={after}
          small
          disabled={span.last >= today}
          onClick={() => open(spanBeside(span, 1))}
        />
        <Calendar
          deviceId={deviceId}
          span={span}
          today={today}
          zone={zone}
          totals={totals}
          onOpen={open}
        />
      </div>
    </div>
  )
}
