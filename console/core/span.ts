import { isoTime } from '../../schemas/text/iso-8601.ts'
import { datesText, dayText, shortMonth } from './date-words.ts'
import { dayBounds, isDay, nextDay } from './times.ts'

/** Whole days, from the first to the last, both included. */
export type Span = { readonly first: string; readonly last: string }

/** The days named in the address: `day`, or `from` and `to`; otherwise today. */
export function parseSpan(query: URLSearchParams, today: string): Span {
  const [day, first, last] = ['day', 'from', 'to'].map((name) => query.get(name) ?? '')
  if (isDay(first ?? '') && isDay(last ?? '')) return orderDays(first ?? '', last ?? '')
  const only = isDay(day ?? '') ? (day ?? today) : today
  return { first: only, last: only }
}

/** Sorts two days given in either order. */
export function orderDays(one: string, other: string): Span {
  return one <= other ? { first: one, last: other } : { first: other, last: one }
}

/**
 * The days in the address's form.
 * @param others the other devices of the replay, which remain when the days change.
 */
export function spanQuery({ first, last }: Span, today: string, others?: string | null): string {
  const query = new URLSearchParams(first === last ? { day: first } : { from: first, to: last })
  if (first === last && first === today) query.delete('day')
  if (others) query.set('with', others)
  return query.size > 0 ? `?${query}` : ''
}

export function isOneDay({ first, last }: Span): boolean {
  return first === last
}

/** Returns the start of the first day and the end of the last, in milliseconds. */
export function spanBounds({ first, last }: Span, zone: string): { from: number; to: number } {
  return { from: dayBounds(first, zone).from, to: dayBounds(last, zone).to }
}

/** A range as parameters of the API. */
export function rangeQuery({ from, to }: { readonly from: number; readonly to: number }) {
  return { from: isoTime(from), to: isoTime(to) }
}

/** `Sun 22 Nov`, `16 – 22 Nov`, `Nov 2026`, `2026`. */
export function spanText(span: Span, today: string, locale?: string): string {
  const { first, last } = span
  if (isOneDay(span)) return dayText(first, today, locale)
  if (isSame(span, yearOf(first))) return first.slice(0, 4)
  // A month always has its year, a date only if it is not the current one.
  if (isSame(span, monthOf(first))) return `${shortMonth(first)} ${first.slice(0, 4)}`
  return datesText(first, last, today, locale)
}

/** Returns the week of a day, from Monday to Sunday. */
export function weekOf(day: string): Span {
  const sinceMonday = (new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % 7
  const first = nextDay(day, -sinceMonday)
  return { first, last: nextDay(first, 6) }
}

export function monthOf(day: string): Span {
  const first = `${day.slice(0, 7)}-01`
  const inNext = nextDay(first, 31)
  return { first, last: nextDay(`${inNext.slice(0, 7)}-01`, -1) }
}

export function yearOf(day: string): Span {
  return { first: `${day.slice(0, 4)}-01-01`, last: `${day.slice(0, 4)}-12-31` }
}

/** The days before (-1) or after (1) a span: equally many, or the whole month or year. */
export function shiftSpan(span: Span, by: -1 | 1): Span {
  const { first, last } = span
  const beside = by < 0 ? nextDay(first, -1) : nextDay(last, 1)
  if (isSame(span, yearOf(first))) return yearOf(beside)
  if (isSame(span, monthOf(first))) return monthOf(beside)
  const more = dayCount(span) - 1
  return orderDays(beside, nextDay(beside, by * more))
}

/** The days of a span, or the months of one that is longer than a month. */
export function partsOf(span: Span): readonly Span[] {
  const parts: Span[] = []
  const isLong = dayCount(span) > MOST_DAYS_OF_MONTH
  for (
    let first = span.first;
    first <= span.last;
    first = nextDay(parts.at(-1)?.last ?? first, 1)
  ) {
    const last = isLong ? monthOf(first).last : first
    parts.push({ first, last: last < span.last ? last : span.last })
  }
  return parts
}

/** The longest month. */
export const MOST_DAYS_OF_MONTH = 31

export function dayCount({ first, last }: Span): number {
  return Math.round((Date.parse(last) - Date.parse(first)) / 86_400_000) + 1
}

function isSame(a: Span, b: Span): boolean {
  return a.first === b.first && a.last === b.last
}

/** Number of a device's records per day; days without records may be missing. */
export type DayCounts = ReadonlyMap<string, { readonly count: number }>

/** The service reads about this many records per second. */
const MOST_RECORDS = 100_000

/**
 * The days to read next: the nearest to a day, within one month and within the size of one request.
 * Undefined if nothing is missing.
 */
export function nextDays(missing: DayCounts, near: string): Span | undefined {
  const countDaysAway = (day: string) => Math.abs(dayCount({ first: near, last: day }) - 1)
  const days = [...missing.keys()].sort((a, b) => countDaysAway(a) - countDaysAway(b))
  const [nearest] = days
  if (nearest === undefined) return undefined
  let [first, last, records] = [nearest, nearest, 0]
  for (const day of days.filter((one) => one.slice(0, 7) === nearest.slice(0, 7))) {
    records += missing.get(day)?.count ?? 0
    if (records > MOST_RECORDS) break
    if (day < first) first = day
    if (day > last) last = day
  }
  return { first, last }
}
