import { firstMoment } from '../../schemas/geo/local-time.ts'
import { clockOf } from './times.ts'

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
