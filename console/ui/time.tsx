import { now } from './clock.ts'
import { readerZone } from './preferences.ts'
import { dateText } from '../core/date-words.ts'
import { ago, agoInWords, date, offset } from '../core/times.ts'
import { formatClock, formatDateTime, formatMoment } from './shown.ts'

/** A time in the chosen time zone: `Wed 25 Nov 14:05`, near days in words; ISO 8601 in its title. */
export function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} title={at} class="time">
      {formatMoment(Date.parse(at))}
    </time>
  )
}

/** A time in a table: its clock, and below it the date; ISO 8601 in its title. */
export function TimeCell({ at }: { at: string }) {
  const ms = Date.parse(at)
  const [day, today] = [ms, now.value].map((one) => date(one, readerZone()))
  return (
    <time dateTime={at} title={at} class="time stacked">
      {formatClock(ms)} <span class="note">{dateText(day ?? '', today ?? '')}</span>
    </time>
  )
}

/** The time elapsed, `inFull` for viewers of links; the time itself in its title. */
export function Ago({ at, inFull = false }: { at: string; inFull?: boolean }) {
  const ms = Date.parse(at)
  return (
    <time
      dateTime={at}
      title={`${formatDateTime(ms, SECONDS)} ${offset(ms, readerZone())}`}
      class="time"
    >
      {(inFull ? agoInWords : ago)(ms, now.value)}
    </time>
  )
}

const SECONDS = { hasSeconds: true }
