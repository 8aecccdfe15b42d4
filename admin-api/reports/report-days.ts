import { addTotals, NO_TOTALS, type ReportTotals } from '../../schemas/devices/report-totals.ts'
import { localClock, localSteps } from '../../schemas/geo/local-time.ts'
import type { TimeSpan } from '../../schemas/geo/track-totals.ts'

export const PERIODS = ['day', 'week', 'month'] as const
export type PeriodUnit = (typeof PERIODS)[number]

const DAY_MS = 24 * 60 * 60_000
/** 1 January 1970 was a Thursday. */
const DAYS_SINCE_MONDAY = 3

/** A day of a zone within a range; days of the same week or month share its number. */
export type ReportDay = TimeSpan & Readonly<Record<PeriodUnit, number>>

/** The days of a range, in order; empty for an empty range. */
export function daysOf({ from, to }: TimeSpan, timeZone: string): readonly ReportDay[] {
  const clock = localClock(timeZone)
  const starts = localSteps({ from, to, step: 'day', timeZone }, Infinity) ?? []
  const days = starts.map((start, n): ReportDay => {
    const day = Math.floor(clock(start) / DAY_MS)
    const date = new Date(day * DAY_MS)
    return {
      from: Math.max(from, start),
      to: Math.min(to, starts[n + 1] ?? start),
      day,
      week: Math.floor((day + DAYS_SINCE_MONDAY) / 7),
      month: date.getUTCFullYear() * 12 + date.getUTCMonth(),
    }
  })
  return days.filter((day) => day.from < day.to)
}

/** The days of each week or month, or each day. */
export function groupDays(
  days: readonly ReportDay[],
  by: PeriodUnit,
): readonly (readonly ReportDay[])[] {
  const groups = new Map<number, ReportDay[]>()
  for (const day of days) groups.set(day[by], [...(groups.get(day[by]) ?? []), day])
  return [...groups.values()]
}

/** The totals of each day on which something happened. */
export type TotalsByDay = Map<ReportDay['day'], ReportTotals>

/** Adds to the day that contains the time, if one does. */
export function addAt(
  totals: TotalsByDay,
  days: readonly ReportDay[],
  at: number,
  more: Partial<ReportTotals>,
): void {
  const found = days.findLast(({ from }) => from <= at)
  if (found === undefined || at >= found.to) return
  const before = totals.get(found.day) ?? NO_TOTALS
  totals.set(found.day, addTotals(before, { ...NO_TOTALS, ...more }))
}
