/**
 * The only format of dates and times of day: `Wed 25 Nov 14:05`. The words are English, like the
 * sentences around them; the order of day and month, and the 12-hour or 24-hour clock, are the
 * reader's.
 */
import { nextDay, date, time } from './times.ts'

export const CLOCKS = ['24', '12'] as const
export type HourClock = (typeof CLOCKS)[number]

/** `14:05:30` or `2:05:30 pm` in the zone; without seconds where they do not matter. */
export function clockText(ms: number, zone: string, clock: HourClock, hasSeconds = true): string {
  return timeOfDayText(time(ms, zone).slice(0, hasSeconds ? 8 : 5), clock)
}

/** `14:05` on either clock. */
export function timeOfDayText(text: string, clock: HourClock): string {
  if (clock === '24') return text
  const hour = Number(text.slice(0, 2))
  return `${hour % 12 || 12}${text.slice(2)} ${hour < 12 ? 'am' : 'pm'}`
}

/**
 * Parses a typed time of day into `14:05` or `14:05:30`: `2:05 pm`, `2.05pm` and `14.05` are
 * accepted too.
 */
export function clockTime24(text: string): string {
  const [, hour = '', rest = '', half = ''] =
    /^(\d{1,2})((?:[:.]\d\d){0,2})\s*([ap]?)\.?m?\.?$/i.exec(text.trim()) ?? []
  if (hour === '') return text
  const twelve = { a: Number(hour) % 12, p: (Number(hour) % 12) + 12 }[half.toLowerCase()]
  const isClock = twelve === undefined || (Number(hour) >= 1 && Number(hour) <= 12)
  const hours = String(twelve ?? Number(hour)).padStart(2, '0')
  return isClock ? hours + (rest === '' ? ':00' : rest.replaceAll('.', ':')) : text
}

/** Created once: creating a formatter takes longer than formatting a thousand times. */
const weekdays = new Intl.DateTimeFormat('en', { weekday: 'short', timeZone: 'UTC' })
const months = new Intl.DateTimeFormat('en', { month: 'short', timeZone: 'UTC' })

/** Formats a day: `Sun 22 Nov`, with the year unless it is that of `today`. */
export function dayText(day: string, today: string, locale?: string): string {
  return `${weekdayText(day)} ${dateText(day, today, locale)}`
}

/** `Sun`. */
export function weekdayText(day: string): string {
  return weekdays.format(Date.parse(day))
}

/** A date: `22 Nov` or `Nov 22`, with its year unless it is that of `today`. */
export function dateText(day: string, today: string, locale?: string): string {
  const year = day.slice(0, 4)
  const isThisYear = year === today.slice(0, 4)
  const text = joinInLocaleOrder(String(Number(day.slice(8))), shortMonth(day), locale)
  return isThisYear ? text : `${text}${isMonthFirst(locale) ? ',' : ''} ${year}`
}

/** Days from the first to the last: `16 – 22 Nov`, `Nov 16 – 22`, `30 Oct – 5 Nov`. */
export function datesText(first: string, last: string, today: string, locale?: string): string {
  const [from, to] = [first, last].map((day) => dateText(day, today, locale))
  if (first.slice(0, 7) !== last.slice(0, 7)) return `${from} – ${to}`
  const days = `${Number(first.slice(8))} – ${Number(last.slice(8))}`
  const isThisYear = last.slice(0, 4) === today.slice(0, 4)
  const text = joinInLocaleOrder(days, shortMonth(last), locale)
  return isThisYear ? text : `${text}${isMonthFirst(locale) ? ',' : ''} ${last.slice(0, 4)}`
}

/** `Nov`. */
export function shortMonth(day: string): string {
  return months.format(Date.parse(day))
}

/** `Wed 25 Nov 14:05`, or with seconds. */
export function dateTime(
  ms: number,
  {
    now,
    zone,
    clock,
    hasSeconds = false,
    locale,
  }: {
    readonly now: number
    readonly zone: string
    readonly clock: HourClock
    readonly hasSeconds?: boolean
    readonly locale?: string
  },
): string {
  if (!Number.isFinite(ms)) return 'an unknown time'
  const day = dayText(date(ms, zone), date(now, zone), locale)
  return `${day} ${clockText(ms, zone, clock, hasSeconds)}`
}

const nearDays = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

/**
 * Formats a moment without seconds, with names for near days: `yesterday 22:24`, `today 22:24`,
 * `tomorrow 22:24`, `Tue 3 Feb 22:24`.
 */
export function momentText(ms: number, words: Parameters<typeof dateTime>[1]): string {
  const { now, zone, clock } = words
  if (!Number.isFinite(ms)) return dateTime(ms, words)
  const [day, today] = [date(ms, zone), date(now, zone)]
  const apart = [-1, 0, 1].find((by) => nextDay(today, by) === day)
  if (apart === undefined) return dateTime(ms, words)
  return `${nearDays.format(apart, 'day')} ${clockText(ms, zone, clock, false)}`
}

function joinInLocaleOrder(day: string, month: string, locale: string | undefined): string {
  return isMonthFirst(locale) ? `${month} ${day}` : `${day} ${month}`
}

const orders = new Map<string | undefined, boolean>()

/** Whether the language, or else the browser's, puts the month before the day. */
function isMonthFirst(locale: string | undefined): boolean {
  const known = orders.get(locale)
  if (known !== undefined) return known
  const parts = new Intl.DateTimeFormat(locale, { month: 'numeric', day: 'numeric' })
    .formatToParts(0)
    .map(({ type }) => type)
  const isFirst = parts.indexOf('month') < parts.indexOf('day')
  orders.set(locale, isFirst)
  return isFirst
}
