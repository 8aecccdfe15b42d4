import { signal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { nextDays, type DayCounts } from '../../core/day-counts.ts'
import { toFailure, type ApiFailure } from '../../core/failure.ts'
import { spanBounds, type Span } from '../../core/span.ts'
import { sumOfDays, totalsByDay, type DayTotals, type KnownDays } from '../../core/trips.ts'
import { loadEpisodes } from './load-episodes.ts'

export type DayTotalsStore = ReturnType<typeof dayTotalsStore>

/** A device's totals of each day, for all parts of its page: each day is read once, while its reports are as many. */
export function useDayTotalsStore(deviceId: string, zone: string): DayTotalsStore {
  const store = useMemo(
    () =>
      dayTotalsStore(async (span, signal) => {
        const { from, to } = spanBounds(span, zone)
        const range = { from: new Date(from).toISOString(), to: new Date(to).toISOString() }
        return totalsByDay(await loadEpisodes({ deviceId, ...range }, signal), span, zone)
      }),
    [deviceId, zone],
  )
  useEffect(() => store.close, [store])
  return store
}

/**
 * Sums over days of the device, as far as the store knows them; it reads the others, those nearest
 * to a day first. Nothing is asked while the counts are unknown.
 */
export function useDayTotals(store: DayTotalsStore, counts: DayCounts | undefined, near: string) {
  useEffect(() => counts && store.want({ counts, near }), [store, counts, near])
  const known = store.days.value
  return (span: Span) => sumOfDays(span, counts ?? new Map(), known)
}

/** One request at a time: a year of a busy device takes the service long. */
function dayTotalsStore(load: (span: Span, signal: AbortSignal) => Promise<readonly DayTotals[]>) {
  const days = signal<KnownDays>(new Map())
  const failure = signal<ApiFailure | undefined>(undefined)
  const wants = new Set<Want>()
  const ending = new AbortController()
  let isReading = false

  /** The days requested last come first. */
  function next(): { want: Want; span: Span } | undefined {
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
    const one = isReading || failure.peek() !== undefined ? undefined : next()
    if (one === undefined) return
    const { counts } = one.want
    isReading = true
    load(one.span, ending.signal).then(
      (totals) => {
        isReading = false
        const read = totals.map(
          (day) => [day.day, { ...day, count: counts.get(day.day)?.count ?? 0 }] as const,
        )
        days.value = new Map([...days.peek(), ...read])
        readNext()
      },
      (thrown: unknown) => {
        isReading = false
        if (!ending.signal.aborted) failure.value = toFailure(thrown)
      },
    )
  }

  return {
    days,
    /** Why reading has stopped, until it is tried again. */
    failure,
    /** Reads these days, until the function that it returns is called. */
    want: (want: Want) => {
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

type Want = { readonly counts: DayCounts; readonly near: string }
