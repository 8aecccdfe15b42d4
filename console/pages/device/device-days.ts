import { useEffect, useMemo } from 'preact/hooks'
import { signal } from '@preact/signals'
import { api } from '../../api/client.ts'
import { dayText } from '../../core/date-words.ts'
import { nextDays, type DayCounts, rangeQuery, spanBounds, type Span } from '../../core/span.ts'
import { toFailure, type ApiFailure } from '../../core/failure.ts'
import { date } from '../../core/times.ts'
import {
  sumOfDays,
  totalsByDay,
  type DayTotals,
  type Episode,
  type KnownDays,
} from '../../core/trips.ts'
import { now } from '../../ui/clock.ts'
import { readerZone } from '../../ui/preferences.ts'
import { useKeys, type KeyActions } from '../../ui/keys.tsx'
import { formatCount } from '../../ui/shown.ts'
import { useLoad } from '../../ui/use-load.ts'
import { loadEpisodes } from './track-data.ts'

/** The days of a device shown on its page, in the operator's zone. */
export type DeviceDays = {
  readonly deviceId: string
  readonly span: Span
  readonly today: string
  readonly zone: string
  /** The distance travelled on each day. */
  readonly totals: DayTotalsStore
}

type DayTotalsStore = ReturnType<typeof dayTotalsStore>

/**
 * A device's totals of each day, for all parts of its page: a day is read again only when its
 * number of reports has changed.
 */
export function useDayTotalsStore(deviceId: string, zone: string): DayTotalsStore {
  const store = useMemo(
    () =>
      dayTotalsStore(async (span, signal) => {
        const range = { deviceId, ...spanBounds(span, zone) }
        const episodes = await loadEpisodes(range, signal)
        return { totals: totalsByDay(episodes, span, zone), episodes }
      }),
    [deviceId, zone],
  )
  useEffect(() => store.close, [store])
  return store
}

/**
 * Sums over days of the device, as far as the store knows them; it reads the rest, nearest to a day
 * first. While the counts are unknown, nothing is read.
 */
export function useDayTotals(store: DayTotalsStore, counts: DayCounts | undefined, near: string) {
  useEffect(() => counts && store.want({ counts, near }), [store, counts, near])
  const known = store.days.value
  return (span: Span) => sumOfDays(span, counts ?? new Map(), known)
}

/** Sends one request at a time: a year of a busy device takes the service a long time. */
function dayTotalsStore(load: (span: Span, signal: AbortSignal) => Promise<ReadDays>) {
  const days = signal<KnownDays>(new Map())
  /** Keyed by kind and start, because both days return an item that spans midnight. */
  const episodes = signal<ReadonlyMap<string, Episode>>(new Map())
  const failure = signal<ApiFailure | undefined>(undefined)
  const wants = new Set<WantedDays>()
  const ending = new AbortController()
  const isReading = signal(false)

  /** Loads the most recently requested days first. */
  function next(): { want: WantedDays; span: Span } | undefined {
    for (const want of [...wants].reverse()) {
      const missing = [...want.counts].filter(
        ([day, { count }]) => count > 0 && days.peek().get(day)?.count !== count,
      )
      const span = nextDays(new Map(missing), want.near)
      if (span !== undefined) return { want, span }
    }
    return undefined
  }

  function readNext(): void {
    const one = isReading.peek() || failure.peek() !== undefined ? undefined : next()
    if (one === undefined) return
    const { counts } = one.want
    isReading.value = true
    load(one.span, ending.signal).then(
      ({ totals, episodes: read }) => {
        isReading.value = false
        const named = read.map((one) => [`${one.kind} ${one.from}`, one] as const)
        episodes.value = new Map([...episodes.peek(), ...named])
        const known = totals.map(
          (day) => [day.day, { ...day, count: counts.get(day.day)?.count ?? 0 }] as const,
        )
        days.value = new Map([...days.peek(), ...known])
        readNext()
      },
      (thrown: unknown) => {
        isReading.value = false
        if (!ending.signal.aborted) failure.value = toFailure(thrown)
      },
    )
  }

  return {
    days,
    episodes,
    isReading,
    /** The failure that stopped reading, until a retry. */
    failure,
    /** Reads these days until the returned function is called. */
    want: (want: WantedDays) => {
      wants.add(want)
      readNext()
      return () => void wants.delete(want)
    },
    retry: () => {
      failure.value = undefined
      readNext()
    },
    close: () => {
      wants.clear()
      ending.abort()
    },
  }
}

type ReadDays = { readonly totals: readonly DayTotals[]; readonly episodes: readonly Episode[] }

type WantedDays = { readonly counts: DayCounts; readonly near: string }

/** Loads the number of a device's reports on each day of a span; undefined until loaded. */
export function useActivity(deviceId: string, span: Span, zone: string): DayCounts | undefined {
  const { first, last } = span
  const { data } = useLoad(
    (signal) => {
      const days = spanBounds({ first, last }, zone)
      return api.get('/devices/{deviceId}/activity', {
        path: { deviceId },
        query: { ...rangeQuery(days), step: 'day', tz: zone },
        signal,
      })
    },
    [deviceId, first, last, zone],
  )
  return useMemo(
    () => data && new Map(data.items.map((day) => [date(Date.parse(day.start), zone), day])),
    [data, zone],
  )
}

export function dayWords(day: string, count: number, distance?: string): string {
  const words = [distance, count === 0 ? 'no reports' : formatCount(count, 'report')]
  return `${dayText(day, date(now.value, readerZone()))}: ${words.filter(Boolean).join(', ')}`
}

/**
 * Keys that move the focus among the days of `element`, which are one tab stop; `steps` has the
 * number of days for each key. In right-to-left pages, days and keys run the other way.
 */
export function useDayKeys(
  part: Parameters<typeof useKeys>[1] & object,
  steps: Readonly<Record<string, number>>,
  others: KeyActions = {},
): void {
  function to(label: string, place: (here: number, last: number) => number): KeyActions[string] {
    const run = () => {
      const days = [...(part.element.current?.querySelectorAll<HTMLElement>('[tabindex]') ?? [])]
      const here = days.findIndex((day) => day === document.activeElement)
      days[place(here, days.length - 1)]?.focus()
    }
    return { label, run }
  }
  function moveBy(by: number): KeyActions[string] {
    const label = Math.abs(by) === 1 ? 'Previous or next day' : 'Previous or next week'
    return to(label, (here) => here + (isMirrored(part.element.current) ? -by : by))
  }
  useKeys(
    {
      ...Object.fromEntries(Object.entries(steps).map(([key, by]) => [key, moveBy(by)])),
      Home: to('First or last day', () => 0),
      End: to('First or last day', (_, last) => last),
      ...others,
    },
    part,
  )
}

function isMirrored(element: Element | null): boolean {
  return element !== null && getComputedStyle(element).direction === 'rtl'
}
