import { firstMoment } from '../../schemas/geo/local-time.ts'
import { clockOf, clockText, date, type HourClock } from './times.ts'

/** Days of a calendar, `2026-01-31`, in a time zone, where one may have 23 or 25 hours. */

const DAY_MS = 86_400_000

/** The first and last moment of a day: from inclusive, to exclusive, in milliseconds. */
export function dayBounds(day: string, zone: string): { from: number; to: number } {
  return { from: beginOf(day, zone), to: beginOf(nextDay(day, 1), zone) }
}

/** The day `by` days later. */
export function nextDay(day: string, by: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + by * DAY_MS).toISOString().slice(0, 10)
}

/** A day in words: `Sun 22 Nov`, with its year where that is not the one of `today`. */
export function dayText(day: string, today: string): string {
  return `${inWords(day, { weekday: 'short' })} ${dateText(day, today)}`
}

/** The same without the day of the week: `22 Nov`. */
export function dateText(day: string, today: string): string {
  const year = day.slice(0, 4)
  const text = `${Number(day.slice(8))} ${inWords(day, { month: 'short' })}`
  return year === today.slice(0, 4) ? text : `${text} ${year}`
}

const nearDays = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

/**
 * A moment as people say it: `yesterday 22:24`, `today 22:24`, `tomorrow 22:24`, `Tue 3 Feb 22:24`.
 */
export function momentText(ms: number, now: number, zone: string, clock: HourClock): string {
  const [day, today] = [date(ms, zone), date(now, zone)]
  const apart = [-1, 0, 1].find((by) => nextDay(today, by) === day)
  const words = apart === undefined ? dayText(day, today) : nearDays.format(apart, 'day')
  return `${words} ${clockText(ms, zone, clock, false)}`
}

function inWords(day: string, part: Intl.DateTimeFormatOptions): string {
  return new Intl.DateTimeFormat('en', { ...part, timeZone: 'UTC' }).format(Date.parse(day))
}

/** Whether the text is an existing day, from 2000 to 2100. */
export function isDay(text: string): boolean {
  if (!/^20\d\d-\d\d-\d\d$/.test(text)) return false
  const ms = Date.parse(`${text}T00:00:00Z`)
  return Number.isFinite(ms) && new Date(ms).toISOString().startsWith(text)
}

/** The earliest moment that has the day's date in the zone: some days begin at 01:00. */
function beginOf(day: string, zone: string): number {
  return firstMoment(Date.parse(`${day}T00:00:00Z`), clockOf(zone))
}
