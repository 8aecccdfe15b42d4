import { ChevronLeft, ChevronRight } from 'lucide'
import { api } from '../../api/client.ts'
import { dayBounds, dayText, isDay, nextDay } from '../../core/days.ts'
import { IconButton } from '../../ui/icon-button.tsx'
import { devicePath, go } from '../../ui/router.ts'
import { date } from '../../core/times.ts'
import { useLoad } from '../../ui/use-load.ts'

const DAYS = 30

/** Picks a day: the previous one, the next one, a typed one, or one of the last days with data. */
export function DayPicker({
  deviceId,
  day,
  today,
  zone,
}: {
  deviceId: string
  day: string
  today: string
  zone: string
}) {
  const last = day > nextDay(today, -DAYS) ? today : nextDay(day, DAYS / 2)
  const first = nextDay(last, 1 - DAYS)
  const { data } = useLoad(
    (signal) =>
      api.get('/devices/{deviceId}/activity', {
        path: { deviceId },
        query: {
          from: new Date(dayBounds(first, zone).from).toISOString(),
          to: new Date(dayBounds(last, zone).to).toISOString(),
          step: 'day',
          tz: zone,
        },
        signal,
      }),
    [deviceId, first, last, zone],
  )
  const counts = new Map(
    data?.items.map(({ start, count }) => [date(Date.parse(start), zone), count]),
  )
  const most = Math.max(1, ...counts.values())
  const open = (to: string) => go(`${devicePath(deviceId)}${to === today ? '' : `?day=${to}`}`)

  return (
    <div class="day-picker row" role="group" aria-label="Day">
      <h2 class="day-words">{dayText(day, today)}</h2>
      <ol class="day-strip" onKeyDown={moveFocus}>
        {Array.from({ length: DAYS }, (_, index) => nextDay(first, index)).map((one) => {
          const count = counts.get(one) ?? 0
          const words = `${one}: ${count === 0 ? 'no reports' : `${count} reports`}`
          return (
            <li key={one}>
              <button
                type="button"
                aria-label={words}
                title={words}
                aria-current={one === day ? 'date' : undefined}
                tabIndex={one === day ? 0 : -1}
                onClick={() => open(one)}
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
          label="The day before"
          small
          onClick={() => open(nextDay(day, -1))}
        />
        <input
          type="date"
          aria-label="Day"
          value={day}
          min="2000-01-01"
          max={today}
          onChange={({ currentTarget: { value } }) => isDay(value) && open(value)}
        />
        <IconButton
          icon={ChevronRight}
          label="The day after"
          small
          disabled={day >= today}
          onClick={() => open(nextDay(day, 1))}
        />
      </div>
    </div>
  )
}

/** The days are one stop of the Tab key: arrow keys go from one to the next. */
function moveFocus(event: KeyboardEvent & { currentTarget: HTMLElement }): void {
  const days = [...event.currentTarget.querySelectorAll('button')]
  const here = days.findIndex((day) => day === document.activeElement)
  const isRightToLeft = getComputedStyle(event.currentTarget).direction === 'rtl'
  const to = { ArrowLeft: here - 1, ArrowRight: here + 1, Home: 0, End: days.length - 1 }[
    isRightToLeft ? (MIRRORED[event.key] ?? event.key) : event.key
  ]
  if (to === undefined) return
  event.preventDefault()
  days[to]?.focus()
}

const MIRRORED: Readonly<Record<string, string>> = {
  ArrowLeft: 'ArrowRight',
  ArrowRight: 'ArrowLeft',
}
