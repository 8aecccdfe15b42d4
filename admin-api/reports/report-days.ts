import { localClock, localSteps } from '../../schemas/geo/local-time.ts'
import type { TimeSpan } from '../../schemas/geo/track-totals.ts'

export const PERIODS = ['day', 'week', 'month'] as const
export type PeriodUnit = (typeof PERIODS)[number]

const DAY_MS = 24 * 60 * 60_000
/** 1 January 1970 was a Thursday; weeks begin on Monday. */
const DAYS_SINCE_MONDAY = 3

/** A day of a time zone, as far as it is in the range, and numbers that its periods have in common. */
export type ReportDay = TimeSpan & { readonly numbers: Readonly<Record<PeriodUnit, number>> }

/** The days of a range, in order; empty for an empty range. */
export function daysOf({ from, to }: TimeSpan, timeZone: string): readonly ReportDay[] {
  const clock = localClock(timeZone)
  const starts = localSteps({ from, to, step: 'day', timeZone }, Infinity) ?? []
  return starts.flatMap((start, n) => {
    const span = { from: Math.max(from, start), to: Math.min(to, starts[n + 1] ?? start) }
    if (span.from >= span.to) return []
    // Some days begin at 01:00.
    const day = Math.floor(clock(start) / DAY_MS)
    const date = new Date(day * DAY_MS)
    const week = Math.floor((day + DAYS_SINCE_MONDAY) / 7)
    const month = date.getUTCFullYear() * 12 + date.getUTCMonth()
    return [{ ...span, numbers: { day, week, month } }]
  })
}

/** Successive days of the same day, week or month. */
export function groupDays(
  days: readonly ReportDay[],
  by: PeriodUnit,
): readonly (readonly ReportDay[])[] {
  const groups: ReportDay[][] = []
  for (const day of days) {
    const group = groups.at(-1)
    if (group?.[0]?.numbers[by] === day.numbers[by]) group.push(day)
    else groups.push([day])
  }
  return groups
}

/** From the beginning of the first day to the end of the last. */
export function spanOf(days: readonly ReportDay[]): TimeSpan {
  return { from: days[0]?.from ?? 0, to: days.at(-1)?.to ?? 0 }
}
