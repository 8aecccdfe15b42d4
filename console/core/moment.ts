import { isDay, date, time, fromInput } from './times.ts'
import { clockTime24 } from './date-words.ts'
import { isOneDay, type Span } from './span.ts'

const LAST_OF_SECOND_MS = 999

/**
 * Parses a text such as `14:05` or `14:05:55` as a moment on a day in a zone, including all reports
 * of that second; `2026-11-22T14:05` names its day. A repeated time means its first
 * occurrence, or the second with `again` after it. Undefined for any other text.
 */
export function momentOf(text: string, day: string, zone: string): number | undefined {
  const [clock = '', own = day] = text.replace(AGAIN, '').split('T').reverse()
  if (!isDay(own) || !/^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?$/.test(clock)) return undefined
  const first = fromInput(`${own}T${clock}`, zone)
  if (first === undefined) return undefined
  return (text.endsWith(AGAIN) ? findLastOccurrence(first, zone) : first) + LAST_OF_SECOND_MS
}

/** Follows the second occurrence of a repeated time, in the address and in words. */
const AGAIN = 'again'

/** ` again` for the second occurrence of a time repeated on that day; otherwise empty. */
export function formatAgain(at: number, zone: string): string {
  const first = momentOf(time(at, zone), date(at, zone), zone) ?? at
  return at - first >= SECOND_MS ? ` ${AGAIN}` : ''
}

/** A typed time of day in the form that `momentOf` parses: `2:30 am again`. */
export function normalizeMoment(text: string): string {
  const [, clock = '', again = ''] = /^(.*?)\s*(again)?$/i.exec(text.trim()) ?? []
  return clockTime24(clock) + again.toLowerCase()
}

/** The text of a moment, including its day if the span has several. */
export function momentInAddress(at: number, span: Span, zone: string): string {
  const text = isOneDay(span) ? time(at, zone) : `${date(at, zone)}T${time(at, zone)}`
  return text + formatAgain(at, zone).trim()
}

/** The clocks are set back by half an hour in few zones, in all others by an hour. */
const SET_BACK_MS = [1_800_000, 3_600_000]

/** Finds the second time with the same clock reading, or the only one. */
function findLastOccurrence(first: number, zone: string): number {
  const shown = toSecond(first, zone)
  const later = SET_BACK_MS.map((ms) => first + ms)
  return later.find((one) => toSecond(one, zone) === shown) ?? first
}

function toSecond(at: number, zone: string): string {
  return `${date(at, zone)}T${time(at, zone)}`
}

type Report = { readonly at: number }

/** A typed time means the end of its second. */
const SECOND_MS = 1_000

/**
 * Steps from a moment to the n-th report after it, or before it if `steps` is negative; `left` is
 * the number of steps beyond the first or last report. Reports of the same moment count as one.
 */
export function stepReports(
  reports: readonly Report[],
  from: number,
  steps: number,
): { readonly at: number; readonly left: number } {
  let at = from
  for (let left = steps; left !== 0; left -= Math.sign(steps)) {
    const next = steps < 0 ? findReportBefore(reports, at) : reports.find((one) => one.at > at)
    if (next === undefined) return { at, left }
    at = next.at
  }
  return { at, left: 0 }
}

function findReportBefore(reports: readonly Report[], at: number): Report | undefined {
  const shown = reports.findLast((one) => one.at <= at)
  const isAtReport = shown !== undefined && at - shown.at < SECOND_MS
  return isAtReport ? reports.findLast((one) => one.at < shown.at) : shown
}
