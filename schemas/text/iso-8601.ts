const SECONDS = String.raw`(?<second>\d\d)(?:[.,](?<fraction>\d+))?`
const OFFSET = String.raw`(?:[Zz]|(?<sign>[+-])(?<offsetHours>\d\d)(?::?(?<offsetMinutes>\d\d))?)?`
const SHAPES = [
  // Extended: 2026-01-31T23:59:59.123+02:00. Basic: 20260131T235959,123Z.
  String.raw`(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)[Tt](?<hour>\d\d):(?<minute>\d\d)(?::${SECONDS})?`,
  String.raw`(?<year>\d{4})(?<month>\d\d)(?<day>\d\d)[Tt](?<hour>\d\d)(?<minute>\d\d)(?:${SECONDS})?`,
].map((dateAndTime) => new RegExp(`^${dateAndTime}${OFFSET}$`))

type Part = 'year' | 'month' | 'day' | 'hour' | 'minute' | 'second' | 'fraction'
type Parts = { readonly [Name in Part | 'sign' | 'offsetHours' | 'offsetMinutes']?: string }

/** The form in which JavaScript, and so most senders, write a time: 2026-01-31T23:59:59.123Z. */
const USUAL = /^\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{3})?Z$/
const LONG = '2026-01-31T23:59:59.123Z'.length

/**
 * Parses an ISO 8601 calendar date and time, extended or basic, seconds and fraction optional, with
 * `Z`, an offset or neither (UTC). Returns milliseconds since the epoch, truncated, or undefined for
 * anything else: a date alone, a number, a day that does not exist.
 */
export function parseIso8601(text: string): number | undefined {
  return USUAL.test(text) ? parseUsual(text) : parseAny(text)
}

const lastRead = { day: '', begin: 0 }

/** Parses the day only when it changes: most times are of the same day. */
function parseUsual(text: string): number | undefined {
  const day = text.slice(0, 11)
  if (day !== lastRead.day) {
    const begin = parseAny(`${day}00:00:00Z`)
    if (begin === undefined) return undefined
    lastRead.day = day
    lastRead.begin = begin
  }
  const minutes = twoDigits(text, 11) * 60 + twoDigits(text, 14)
  const thousandths = text.length === LONG ? digit(text, 20) * 100 + twoDigits(text, 21) : 0
  return lastRead.begin + (minutes * 60 + twoDigits(text, 17)) * 1000 + thousandths
}

function twoDigits(text: string, at: number): number {
  return digit(text, at) * 10 + digit(text, at + 1)
}

function digit(text: string, at: number): number {
  return text.charCodeAt(at) - 48
}

function parseAny(text: string): number | undefined {
  for (const shape of SHAPES) {
    const match = shape.exec(text)
    if (match?.groups !== undefined) return milliseconds(match.groups)
  }
  return undefined
}

function milliseconds(parts: Parts): number | undefined {
  const number = (part: string | undefined) => Number(part ?? 0)
  const [year, month, day] = [number(parts.year), number(parts.month), number(parts.day)]
  const [hour, minute, second] = [number(parts.hour), number(parts.minute), number(parts.second)]
  const [offsetHours, offsetMinutes] = [number(parts.offsetHours), number(parts.offsetMinutes)]
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return undefined
  if (hour > 23 || minute > 59 || second > 59) return undefined
  if (offsetHours > 23 || offsetMinutes > 59) return undefined

  const fraction = Number((parts.fraction ?? '').slice(0, 3).padEnd(3, '0'))
  const local = Date.UTC(2000, month - 1, day, hour, minute, second, fraction)
  // Date.UTC reads years below 100 as 19xx, so the year is set separately.
  const withYear = new Date(local).setUTCFullYear(year, month - 1, day)
  const offset = (offsetHours * 60 + offsetMinutes) * 60_000
  return parts.sign === '-' ? withYear + offset : withYear - offset
}

function daysInMonth(year: number, month: number): number {
  if (month !== 2) return [4, 6, 9, 11].includes(month) ? 30 : 31
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
}

const DAY_MS = 86_400_000
const TWO_DIGITS = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, '0'))
const THREE_DIGITS = Array.from({ length: 1000 }, (_, n) => String(n).padStart(3, '0'))
type Day = { begin: number; day: string }
/**
 * The last two, because a batch alternates between the day of its points and the day of their
 * receipt.
 */
let last: Day = { begin: NaN, day: '' }
let lastButOne: Day = { begin: NaN, day: '' }

/** The result of `Date.toISOString`, in a tenth of its time: most times are of the same two days. */
export function isoTime(milliseconds: number): string {
  const time = milliseconds % DAY_MS
  const begin = milliseconds - time
  if (!(time >= 0) || !Number.isInteger(time)) return new Date(milliseconds).toISOString()
  if (begin !== last.begin) {
    const other = lastButOne
    lastButOne = last
    last = other
    if (begin !== last.begin) {
      last.day = new Date(begin).toISOString().slice(0, -'00:00:00.000Z'.length)
      last.begin = begin
    }
  }
  const seconds = Math.floor(time / 1000)
  const minutes = Math.floor(seconds / 60)
  return (
    `${last.day}${TWO_DIGITS[Math.floor(minutes / 60)]}:${TWO_DIGITS[minutes % 60]}:` +
    `${TWO_DIGITS[seconds % 60]}.${THREE_DIGITS[time % 1000]}Z`
  )
}
