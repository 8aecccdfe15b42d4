import { now } from './clock.ts'
import { shownZone } from './preferences.ts'
import { dateText } from '../core/date-words.ts'
import { ago, agoInWords, date, offset } from '../core/times.ts'
import { shownClock, shownDateTime, shownMoment } from './shown.ts'

/** A time in the chosen time zone: `Wed 25 Nov 14:05`, near days in words; ISO 8601 in its title. */
export function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} title={at} class="time">
      {shownMoment(Date.parse(at))}
    </time>
  )
}

/** A time in a table: its clock, and below it the date; ISO 8601 in its title. */
export function TimeCell({ at }: { at: string }) {
  const ms = Date.parse(at)
  const [day, today] = [ms, now.value].map((one) => date(one, shownZone()))
  return (
    <time dateTime={at} title={at} class="time stacked">
      {shownClock(ms)} <span class="note">{dateText(day ?? '', today ?? '')}</span>
    </time>
  )
}

/** The time elapsed, `inFull` for viewers of links; the time itself in its title. */
export function Ago({ at, inFull = false }: { at: string; inFull?: boolean }) {
  const ms = Date.parse(at)
  return (
    <time
      dateTime={at}
      title={`${shownDateTime(ms, SECONDS)} ${offset(ms, shownZone())}`}
      class="time"
    >
      {(inFull ? agoInWords : ago)(ms, now.value)}
    </time>
  )
}

const SECONDS = { hasSeconds: true }
