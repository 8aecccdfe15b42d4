import { isDay } from './days.ts'
import { isOneDay, type Span } from './span.ts'
import { date, time, fromInput } from './times.ts'

const LAST_OF_SECOND_MS = 999

/**
 * The moment that a text such as `14:05` or `14:05:55` names on a day in a zone, with all reports of
 * that second; `2026-11-22T14:05` has its own day. Undefined for any other text.
 */
export function momentOf(text: string, day: string, zone: string): number | undefined {
  const [clock = '', own = day] = text.split('T').reverse()
  if (!isDay(own) || !/^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?$/.test(clock)) return undefined
  const at = fromInput(`${own}T${clock}`, zone)
  return at === undefined ? undefined : at + LAST_OF_SECOND_MS
}

/** The text of a moment, which has its day if the span has several. */
export function momentInAddress(at: number, span: Span, zone: string): string {
  return isOneDay(span) ? time(at, zone) : `${date(at, zone)}T${time(at, zone)}`
}

type Report = { readonly at: number }

/** A typed moment is the end of its second. */
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
    const next = steps < 0 ? reportBefore(reports, at) : reports.find((one) => one.at > at)
    if (next === undefined) return { at, left }
    at = next.at
  }
  return { at, left: 0 }
}

function reportBefore(reports: readonly Report[], at: number): Report | undefined {
  const shown = reports.findLast((one) => one.at <= at)
  const isAtReport = shown !== undefined && at - shown.at < SECOND_MS
  return isAtReport ? reports.findLast((one) => one.at < shown.at) : shown
}
