/** Times in words, in a time zone of the operator's choice. Milliseconds since the epoch. */

import { METRIC, timeText, type Units } from './measures.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const YEAR = 365.25 * DAY

/** "ago" is English, so the unit beside it is too. */
const ENGLISH: Units = { ...METRIC, locale: 'en' }

/** Elapsed time: `12 s ago`, `5 min ago`, `3 h ago`, `2 d ago`, `5 years ago`; a time in the future is `now`. */
export function ago(then: number, now: number): string {
  const ms = now - then
  return ms < SECOND ? 'now' : `${duration(ms, ENGLISH)} ago`
}

const inFull = new Intl.RelativeTimeFormat('en')

/** The same in whole words: `4 minutes ago`, `1 day ago`; `just now` for less than a minute. */
export function agoInWords(then: number, now: number): string {
  const ms = now - then
  if (ms < MINUTE) return 'just now'
  if (ms < HOUR) return inFull.format(-Math.floor(ms / MINUTE), 'minute')
  if (ms < 2 * DAY) return inFull.format(-Math.floor(ms / HOUR), 'hour')
  if (ms < 2 * YEAR) return inFull.format(-Math.floor(ms / DAY), 'day')
  return inFull.format(-Math.floor(ms / YEAR), 'year')
}

/** The largest whole unit: `59 s`, `1 min`, `23 h`, `400 d`, `5 years`. */
export function duration(ms: number, units = METRIC): string {
  if (ms < MINUTE) return timeText(Math.max(0, Math.floor(ms / SECOND)), 'second', units)
  if (ms < HOUR) return timeText(Math.floor(ms / MINUTE), 'minute', units)
  if (ms < 2 * DAY) return timeText(Math.floor(ms / HOUR), 'hour', units)
  if (ms < 2 * YEAR) return timeText(Math.floor(ms / DAY), 'day', units)
  return timeText(Math.floor(ms / YEAR), 'year', units)
}

/** Rounded to minutes, and from two days on to hours: `40 s`, `12 min`, `2 h 20 min`, `3 d 4 h`. */
export function preciseDuration(ms: number, units = METRIC): string {
  const seconds = Math.round(ms / SECOND)
  if (seconds < 60) return timeText(seconds, 'second', units)
  const minutes = Math.round(ms / MINUTE)
  const hours = Math.round(ms / HOUR)
  const parts =
    minutes < 2 * 24 * 60
      ? ([
          [Math.floor(minutes / 60), 'hour'],
          [minutes % 60, 'minute'],
        ] as const)
      : ([
          [Math.floor(hours / 24), 'day'],
          [hours % 24, 'hour'],
        ] as const)
  return parts
    .filter(([number]) => number > 0)
    .map(([number, unit]) => timeText(number, unit, units))
    .join(' ')
}

/** Minutes as people say them: `1 hour`, `10 hours`, `90 minutes`. */
export function minutesText(minutes: number): string {
  const hours = minutes / 60
  if (hours === 1) return '1 hour'
  if (minutes === 1) return '1 minute'
  return Number.isInteger(hours) && hours > 0 ? `${hours} hours` : `${minutes} minutes`
}

/** Whole minutes in words, other lengths as `90 s`. */
export function secondsText(seconds: number): string {
  return seconds % 60 === 0 ? minutesText(seconds / 60) : `${seconds} s`
}

/** `2026-01-31 12:30:05` in the zone. */
export function dateTime(ms: number, zone: string, clock: HourClock = '24'): string {
  return Number.isFinite(ms) ? `${date(ms, zone)} ${clockText(ms, zone, clock)}` : 'an unknown time'
}

/** `2026-01-31` in the zone. */
export function date(ms: number, zone: string): string {
  const { year = '', month = '', day = '' } = parts(ms, zone)
  return `${year.padStart(4, '0')}-${month}-${day}`
}

/** `12:30:05` in the zone. */
export function time(ms: number, zone: string): string {
  const { hour = '', minute = '', second = '' } = parts(ms, zone)
  return `${hour}:${minute}:${second}`
}

export const CLOCKS = ['24', '12'] as const
export type HourClock = (typeof CLOCKS)[number]

/** `14:05:30` or `2:05:30 pm` in the zone; without seconds if they are of no interest. */
export function clockText(ms: number, zone: string, clock: HourClock, hasSeconds = true): string {
  const [hour = '', ...rest] = time(ms, zone).split(':')
  const minutes = rest.slice(0, hasSeconds ? 2 : 1).join(':')
  if (clock === '24') return `${hour}:${minutes}`
  return `${Number(hour) % 12 || 12}:${minutes} ${Number(hour) < 12 ? 'am' : 'pm'}`
}

/** The zone's offset from UTC at that time: `UTC+01:00`. */
export function offset(ms: number, zone: string): string {
  const name = parts(ms, zone)['timeZoneName'] ?? ''
  return name.replace('GMT', 'UTC').replace('+00:00', '')
}

const formats = new Map<string, Intl.DateTimeFormat>()

function parts(ms: number, zone: string): Partial<Record<Intl.DateTimeFormatPartTypes, string>> {
  let format = formats.get(zone)
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-GB', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      timeZoneName: 'longOffset',
    })
    formats.set(zone, format)
  }
  return Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, value]))
}

/** The value of a `datetime-local` field, and the moment that it means in a zone. */

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
  const asUtc = Date.parse(`${text}Z`)
  if (!Number.isFinite(asUtc)) return undefined
  const day = 24 * 3_600_000
  const before = asUtc - offsetMs(asUtc - day, zone)
  const after = asUtc - offsetMs(asUtc + day, zone)
  if (before === after || toInput(before, zone) === text.slice(0, 16)) return before
  return toInput(after, zone) === text.slice(0, 16) ? after : before
}

function offsetMs(at: number, zone: string): number {
  const [, sign, hours = '0', minutes = '0'] = /^UTC([+-])(\d+):(\d+)/.exec(offset(at, zone)) ?? []
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000
}
