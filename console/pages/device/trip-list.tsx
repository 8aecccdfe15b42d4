import { useRef, useState } from 'preact/hooks'
import { dayText, weekdayText } from '../../core/date-words.ts'
import { coordinatesText } from '../../core/measures.ts'
import { isOneDay } from '../../core/span.ts'
import { date, duration } from '../../core/times.ts'
import { foldShortMoves, type Episode, type ShortMoves } from '../../core/trips.ts'
import { Isolated } from '../../ui/isolated.tsx'
import { useKeys } from '../../ui/keys.tsx'
import { shownClock, shownDistance, shownSpeed } from '../../ui/shown.ts'
import type { DeviceDays } from './device-days.ts'

type Row = Episode | ShortMoves

/** Trips, stops and gaps, below the day on which each begins; one stop of the Tab key. */
export function TripList({
  episodes,
  span,
  today,
  zone,
  selected,
  onSelect,
}: Pick<DeviceDays, 'span' | 'today' | 'zone'> & {
  episodes: readonly Episode[]
  selected: Episode | undefined
  onSelect: (episode: Episode) => void
}) {
  const list = useRef<HTMLDivElement>(null)
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set())
  const rows = foldShortMoves(episodes).flatMap((row): readonly Row[] =>
    row.kind === 'walks' && opened.has(row.from) ? row.episodes : [row],
  )
  const stop = rows.find(({ from }) => from === selected?.from)?.from ?? rows[0]?.from
  const go = (by: number) => ({
    label: 'Previous or next trip',
    run: () => {
      const buttons = [...(list.current?.querySelectorAll<HTMLElement>('.trip') ?? [])]
      const here = buttons.findIndex((button) => button === document.activeElement)
      buttons[Math.min(buttons.length - 1, Math.max(0, here + by))]?.focus()
    },
  })
  useKeys(
    { ArrowUp: go(-1), ArrowDown: go(1), Home: go(-Infinity), End: go(Infinity) },
    { title: 'In the list of trips', element: list },
  )

  function choose(row: Row) {
    if (row.kind === 'walks') setOpened(new Set([...opened, row.from]))
    else onSelect(row)
  }

  return (
    <div ref={list} class="trips">
      {daysOf(rows, zone).map(({ day, rows: ofDay }) => (
        <section key={day}>
          {!isOneDay(span) && <h3>{dayText(day, today)}</h3>}
          <ol>
            {ofDay.map((row) => (
              <li key={`${row.kind} ${row.from}`}>
                <button
                  type="button"
                  class={`plain trip ${row.kind}`}
                  tabIndex={row.from === stop ? 0 : -1}
                  aria-pressed={row.kind === 'walks' ? undefined : row.from === selected?.from}
                  aria-expanded={row.kind === 'walks' ? false : undefined}
                  onClick={() => choose(row)}
                >
                  <span class="trip-time">
                    <span>{clock(row.from, day)} –</span> <span>{clock(row.to, day)}</span>
                  </span>{' '}
                  <RowText of={row} />{' '}
                  <span class="trip-lasted">{duration(row.to - row.from)}</span>
                </button>
              </li>
            ))}
          </ol>
        </section>
      ))}
    </div>
  )

  /** The time of day, with the date if it is not the day of the subhead. */
  function clock(at: number, day: string): string {
    const own = date(at, zone)
    const shown = isOneDay(span) ? span.first : day
    const text = shownClock(at, { hasSeconds: false })
    return own === shown ? text : `${weekdayText(own)} ${Number(own.slice(8))} ${text}`
  }
}

function RowText({ of: row }: { of: Row }) {
  switch (row.kind) {
    case 'trip': {
      const { start, end, distanceMetres, maxSpeed } = row
      const names = [start.place?.name, end.place?.name].filter((name) => name !== undefined)
      const way = [...new Set(names)].join(' → ')
      const top = shownSpeed(maxSpeed)
      return (
        <span class="trip-what">
          <Isolated class="one-line">
            {[shownDistance(distanceMetres), way].filter(Boolean).join(' · ')}
          </Isolated>
          {top !== undefined && <span class="note">top {top}</span>}
        </span>
      )
    }
    case 'stop': {
      const coordinates = coordinatesText(row.position)
      return (
        <span class="trip-what" title={coordinates}>
          <Isolated class="one-line">{`Stopped · ${row.place?.name ?? coordinates}`}</Isolated>
        </span>
      )
    }
    case 'walks':
      return (
        <span class="trip-what">
          {row.trips} short walks
          <span class="note"> {shownDistance(row.distanceMetres)}</span>
        </span>
      )
    case 'gap':
      return <span class="trip-what">Gap: location unknown</span>
  }
}

/** The rows by the day on which each begins; what began before the range is on its own day. */
function daysOf(rows: readonly Row[], zone: string) {
  const days: { day: string; rows: Row[] }[] = []
  for (const row of rows) {
    const day = date(row.from, zone)
    const last = days.at(-1)
    if (last?.day === day) last.rows.push(row)
    else days.push({ day, rows: [row] })
  }
  return days
}
