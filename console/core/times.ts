/** Formats durations, and times in a time zone. Times are in milliseconds since the epoch. */
import { durationParts } from '../../schemas/text/duration-parts.ts'
import {
  firstMoment,
  isTimeZone,
  localClock,
  type LocalClock,
} from '../../schemas/geo/local-time.ts'
import { isoTime } from '../../schemas/text/iso-8601.ts'
import { METRIC, timeText } from './measures.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const YEAR = 365.25 * DAY

/**
 * Elapsed time: `12 s ago`, `5 min ago`, `3 h ago`, `2 d ago`, `5 years ago`; a time in the future
 * is `now`.
 */
export function ago(then: number, now: number): string {
  const ms = now - then
  return ms < SECOND ? 'now' : `${largestUnit(ms)} ago`
}

const inFull = new Intl.RelativeTimeFormat('en')

/**
 * Formats an age in full words: `4 minutes ago`, `1 day ago`; `just now` for less than a minute.
 */
export function agoInWords(then: number, now: number): string {
  const ms = now - then
  if (ms < MINUTE) return 'just now'
  if (ms < HOUR) return inFull.format(-Math.floor(ms / MINUTE), 'minute')
  if (ms < 2 * DAY) return inFull.format(-Math.floor(ms / HOUR), 'hour')
  if (ms < 2 * YEAR) return inFull.format(-Math.floor(ms / DAY), 'day')
  return inFull.format(-Math.floor(ms / YEAR), 'year')
}

/** The largest whole unit: `59 s`, `1 min`, `23 h`, `400 d`, `5 years`. */
function largestUnit(ms: number): string {
  if (ms < MINUTE) return timeText(Math.max(0, Math.floor(ms / SECOND)), 'second')
  if (ms < HOUR) return timeText(Math.floor(ms / MINUTE), 'minute')
  if (ms < 2 * DAY) return timeText(Math.floor(ms / HOUR), 'hour')
  if (ms < 2 * YEAR) return timeText(Math.floor(ms / DAY), 'day')
  return timeText(Math.floor(ms / YEAR), 'year')
}

/**
 * Formats a duration in at most two units: `40 s`, `12 min`, `2 h 20 min`, `3 d 4 h`, `5 years`.
 */
export function duration(ms: number, units = METRIC): string {
  if (ms >= 2 * YEAR) return timeText(Math.floor(ms / YEAR), 'year', units)
  return durationParts(ms / SECOND)
    .map(([number, unit]) => timeText(number, unit, units))
    .join(' ')
}

/** Formats a number of minutes: `1 hour`, `24 hours`, `90 minutes`, `7 days`. */
export function minutesText(minutes: number): string {
  const hours = minutes / 60
  if (hours >= 48 && hours % 24 === 0) return `${hours / 24} days`
  if (hours === 1) return '1 hour'
  if (minutes === 1) return '1 minute'
  return Number.isInteger(hours) && hours > 0 ? `${hours} hours` : `${minutes} minutes`
}

/** Formats whole minutes in words, other durations as `90 s`. */
export function secondsText(seconds: number): string {
  return seconds % 60 === 0 ? minutesText(seconds / 60) : `${seconds} s`
}

/** `2026-01-31` in the zone. */
export function date(ms: number, zone: string): string {
  return shown(ms, zone).slice(0, DATE)
}

/** `12:30:05` in the zone. */
export function time(ms: number, zone: string): string {
  return shown(ms, zone).slice(DATE + 1, DATE + 9)
}

/** The zone's offset from UTC at that time: `UTC+01:00`. */
export function offset(ms: number, zone: string): string {
  const minutes = Math.round((clockOf(zone)(ms) - ms) / MINUTE)
  if (minutes === 0) return 'UTC'
  const of = (part: number) => String(Math.floor(part)).padStart(2, '0')
  const apart = Math.abs(minutes)
  return `UTC${minutes < 0 ? '-' : '+'}${of(apart / 60)}:${of(apart % 60)}`
}

/** Whether an operator can choose this zone: `local` is the browser's. */
export function isZone(name: string): boolean {
  return name === 'local' || isTimeZone(name)
}

/** The length of a date. */
const DATE = '2026-01-31'.length

/** `2026-01-31T12:30:05.678Z` as shown by the zone's clocks. */
function shown(ms: number, zone: string): string {
  return isoTime(clockOf(zone)(ms))
}

const clocks = new Map<string, LocalClock>()

/** Returns a zone's clock; cached because creating it is slow. */
export function clockOf(zone: string): LocalClock {
  const clock = clocks.get(zone) ?? localClock(zone)
  clocks.set(zone, clock)
  return clock
}

/** The value of a `datetime-local` field, and the moment it means in a zone. */

/** `2026-01-31T12:30` in the zone. */
export function toInput(ms: number, zone: string): string {
  return `${date(ms, zone)}T${time(ms, zone).slice(0, 5)}`
}

/**
 * The moment of a date and time in the zone, in milliseconds since the epoch. A time that the
 * clocks skip is moved later by the skipped time; of a repeated time it is the first occurrence.
 * Undefined for a malformed text.
 */
export function fromInput(text: string, zone: string): number | undefined {
  const shown = Date.parse(`${text}Z`)
  return Number.isFinite(shown) ? firstMoment(shown, clockOf(zone)) : undefined
}

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

/** The earliest moment with the day's date in the zone: some days start at 01:00. */
function beginOf(day: string, zone: string): number {
  return firstMoment(Date.parse(`${day}T00:00:00Z`), clockOf(zone))
}
