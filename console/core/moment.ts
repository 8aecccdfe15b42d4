import { isDay } from './days.ts'
import { isOneDay, type Span } from './span.ts'
import { date, time } from './times.ts'
import { fromInput } from './zoned-input.ts'

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
