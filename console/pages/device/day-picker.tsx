import './day-picker.css'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { ChevronLeft, ChevronRight, CalendarDays } from 'lucide'
import { isDay, nextDay } from '../../core/times.ts'
import {
  isOneDay,
  shiftSpan,
  spanQuery,
  spanText,
  orderDays,
  monthOf,
  weekOf,
  yearOf,
  type Span,
} from '../../core/span.ts'
import { IconButton, Icon } from '../../ui/icon.tsx'
import { devicePath } from '../../core/address.ts'
import { go, pageAddress } from '../../ui/router.ts'
import { useTyped } from '../../ui/form.tsx'
import { dayWords, useActivity, useDayKeys, type DeviceDays } from './device-days.ts'
import { YearMap } from './year-map.tsx'

const DAYS = 30

/**
 * Picks days: the previous, the next, a typed day, one of the latest with data, or any from the
 * calendar.
 */
export function DayPicker({ deviceId, span, today, zone, totals }: DeviceDays) {
  const day = span.last < today ? span.last : today
  const last = day > nextDay(today, -DAYS) ? today : nextDay(day, DAYS / 2)
  const first = nextDay(last, 1 - DAYS)
  const activity = useActivity(deviceId, { first, last }, zone)
  const most = Math.max(1, ...[...(activity?.values() ?? [])].map(({ count }) => count))
  const others = pageAddress.value.query.get('with')
  const open = (to: Span) => go(`${devicePath(deviceId)}${spanQuery(to, today, others)}`)
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
      {/* Paper is read in other years, too. */}
      <h2 class="on-paper-only">{spanText(span, '')}</h2>
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
          onClick={() => open(shiftSpan(span, -1))}
        />
        <input type="date" aria-label="Day" min="2000-01-01" max={today} {...typedDay} />
        <IconButton
          icon={ChevronRight}
          label={after}
          small
          disabled={span.last >= today}
          onClick={() => open(shiftSpan(span, 1))}
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

/** A year of days, shaded by each day's reports, and ranges to choose: a week, a month, any. */
function Calendar({
  deviceId,
  span,
  today,
  zone,
  totals,
  onOpen,
}: DeviceDays & {
  onOpen: (span: Span) => void
}) {
  const id = useId()
  const panel = useRef<HTMLElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const [isOpen, setOpen] = useState(false)
  const [year, setYear] = useState(yearOf(span.last))
  const day = span.last < today ? span.last : today

  function choose(chosen: Span) {
    panel.current?.hidePopover()
    onOpen(chosen)
  }

  function onToggle({ newState }: Pick<ToggleEvent, 'newState'>) {
    setOpen(newState === 'open')
    if (newState === 'open') setYear(yearOf(day))
  }

  useLayoutEffect(() => {
    if (isOpen) placeBelow(button.current, panel.current)
  }, [isOpen])

  return (
    <>
      <button ref={button} type="button" aria-label="Calendar" title="Calendar" popovertarget={id}>
        <Icon of={CalendarDays} small />
      </button>
      <section
        ref={panel}
        id={id}
        class="calendar floating stack some"
        popover="auto"
        aria-label="Calendar"
        onToggle={onToggle}
      >
        {isOpen && (
          <>
            <div class="row between">
              <div class="row">
                <IconButton
                  icon={ChevronLeft}
                  label="Previous year"
                  small
                  onClick={() => setYear(shiftSpan(year, -1))}
                />
                <h2>{year.first.slice(0, 4)}</h2>
                <IconButton
                  icon={ChevronRight}
                  label="Next year"
                  small
                  disabled={year.last >= today}
                  onClick={() => setYear(shiftSpan(year, 1))}
                />
              </div>
              <div class="row">
                <button type="button" onClick={() => choose(weekOf(day))}>
                  Week
                </button>
                <button type="button" onClick={() => choose(monthOf(day))}>
                  Month
                </button>
                <button type="button" onClick={() => choose(year)}>
                  Year {year.first.slice(0, 4)}
                </button>
              </div>
            </div>
            <YearMap
              deviceId={deviceId}
              year={year}
              span={span}
              today={today}
              zone={zone}
              totals={totals}
              onOpen={choose}
            />
            <AnyRange span={span} today={today} onOpen={choose} />
          </>
        )}
      </section>
    </>
  )
}

/** Positions a filled panel below the button, but within the window. */
function placeBelow(button: HTMLElement | null, panel: HTMLElement | null): void {
  if (button === null || panel === null) return
  const { bottom, left } = button.getBoundingClientRect()
  const lowest = innerHeight - panel.offsetHeight - 12
  panel.style.top = `${Math.max(12, Math.min(bottom + 6, lowest))}px`
  panel.style.left = `${Math.max(12, Math.min(left, innerWidth - PANEL_WIDTH - 12))}px`
}

/** The width of a year's weeks, with the margins. */
const PANEL_WIDTH = 790

function AnyRange({
  span,
  today,
  onOpen,
}: {
  span: Span
  today: string
  onOpen: (span: Span) => void
}) {
  const [first, setFirst] = useState(span.first === span.last ? nextDay(span.last, -6) : span.first)
  const [last, setLast] = useState(span.last)
  const isWhole = isDay(first) && isDay(last)
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault()
        if (isWhole) onOpen(orderDays(first, last))
      }}
    >
      <DateField label="From" value={first} today={today} onInput={setFirst} />
      <DateField label="To" value={last} today={today} onInput={setLast} />
      <button type="submit" disabled={!isWhole}>
        Show
      </button>
    </form>
  )
}

function DateField({
  label,
  value,
  today,
  onInput,
}: {
  label: string
  value: string
  today: string
  onInput: (day: string) => void
}) {
  return (
    <label class="row">
      {label}
      <input
        type="date"
        value={value}
        min="2000-01-01"
        max={today}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
    </label>
  )
}
