import { useRef, useState } from 'preact/hooks'
import { dayText, weekdayText } from '../../core/date-words.ts'
import { coordinatesText } from '../../core/measures.ts'
import { isOneDay } from '../../core/span.ts'
import { date, duration } from '../../core/times.ts'
import { placeText, wayText } from '../../core/place-words.ts'
import { foldShortMoves, type Episode, type ShortMoves } from '../../core/trips.ts'
import { beginOf, foldVisits, type Visit } from '../../core/visits.ts'
import { Isolated } from '../../ui/isolated.tsx'
import { useKeys } from '../../ui/keys.tsx'
import { formatClock, formatDistance, formatSpeed } from '../../ui/shown.ts'
import type { DeviceDays } from './device-days.ts'

/** It drove through a geofence without a stop. */
type Passage = {
  readonly kind: 'visit'
  readonly from: number
  readonly to: number
  readonly visit: Visit
}

type Row = Episode | ShortMoves | Passage

/**
 * Trips, stops with their visits, and gaps, below the day on which each starts; the list is one tab
 * stop.
 */
export function TripList({
  episodes,
  visits,
  span,
  today,
  zone,
  selected,
  onMove,
  onSelect,
}: Pick<DeviceDays, 'span' | 'today' | 'zone'> & {
  episodes: readonly Episode[]
  /** Stays in geofences. */
  visits: readonly Visit[]
  selected: Episode | undefined
  /** Selects a time. */
  onMove: (at: number) => void
  onSelect: (episode: Episode) => void
}) {
  const list = useRef<HTMLDivElement>(null)
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set())
  const moves = foldShortMoves(episodes).flatMap((row): readonly Row[] =>
    row.kind === 'walks' && opened.has(row.from) ? row.episodes : [row],
  )
  const folded = foldVisits(moves, visits)
  const passages = folded.others.map((visit): Row => {
    const from = beginOf(visit)
    return { kind: 'visit', from, to: visit.to ?? from, visit }
  })
  const rows = [...moves, ...passages].sort((a, b) => a.from - b.from)
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
    else if (row.kind === 'visit') onMove(row.from)
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
                  aria-pressed={isEpisode(row) ? row.from === selected?.from : undefined}
                  aria-expanded={row.kind === 'walks' ? false : undefined}
                  onClick={() => choose(row)}
                >
                  <span class="trip-time">
                    <span>{clock(row.from, day)} –</span> <span>{clock(row.to, day)}</span>
                  </span>{' '}
                  <RowText of={row} />{' '}
                  <span class="trip-lasted">{duration(row.to - row.from)}</span>
                  {folded.at.get(row)?.map((visit) => (
                    <span key={beginOf(visit)} class="trip-visit note">
                      {' '}
                      <Isolated>{visit.name}</Isolated> {visitText(visit, day)}
                    </span>
                  ))}
                </button>
              </li>
            ))}
          </ol>
        </section>
      ))}
    </div>
  )

  /** `08:12 – 10:22 · 2 h 10 min`. */
  function visitText({ from, to }: Visit, day: string): string {
    const begin = from === undefined ? 'until' : `${clock(from, day)} –`
    const lasted = from !== undefined && to !== undefined && duration(to - from)
    return [`${begin} ${to === undefined ? 'now' : clock(to, day)}`, lasted]
      .filter(Boolean)
      .join(' · ')
  }

  /** The time of day, with the date if it is not the subhead's day. */
  function clock(at: number, day: string): string {
    const own = date(at, zone)
    const shown = isOneDay(span) ? span.first : day
    const text = formatClock(at, { hasSeconds: false })
    return own === shown ? text : `${weekdayText(own)} ${Number(own.slice(8))} ${text}`
  }
}

function isEpisode(row: Row): row is Episode {
  return row.kind !== 'walks' && row.kind !== 'visit'
}

/** A separate line for the place, and the figures below it. */
function RowText({ of: row }: { of: Row }) {
  switch (row.kind) {
    case 'trip': {
      const { start, end, distanceMetres, maxSpeed } = row
      const top = formatSpeed(maxSpeed)
      const figures = [formatDistance(distanceMetres), top && `top ${top}`]
      return (
        <>
          <Isolated class="trip-what two-lines">
            {wayText(start.place, end.place) || 'Trip'}
          </Isolated>{' '}
          <span class="trip-more">{figures.filter(Boolean).join(' · ')}</span>
        </>
      )
    }
    case 'stop': {
      const place = placeText(row.place) ?? coordinatesText(row.position)
      return <Isolated class="trip-what two-lines">{`Stopped · ${place}`}</Isolated>
    }
    case 'walks': {
      const { trips, isOnFoot, distanceMetres } = row
      return (
        <>
          <span class="trip-what">
            {trips} short {isOnFoot ? 'walks' : 'trips'}
          </span>{' '}
          <span class="trip-more">{formatDistance(distanceMetres)}</span>
        </>
      )
    }
    case 'visit':
      return <Isolated class="trip-what two-lines">{`Through ${row.visit.name}`}</Isolated>
    case 'gap':
      return <span class="trip-what">Gap: location unknown</span>
  }
}

/**
 * The rows by the day on which each starts; an item that started before the range is on its own
 * day.
 */
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
