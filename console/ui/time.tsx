import { now } from './clock.ts'
import { shownZone } from './preferences.ts'
import { ago, agoInWords, offset } from '../core/times.ts'
import { shownDateTime, shownMoment } from './shown.ts'

/** A time in the chosen time zone; UTC in its title. */
export function Time({ at }: { at: string }) {
  const ms = Date.parse(at)
  return (
    <time dateTime={at} title={at} class="time">
      {shownDateTime(ms)}
    </time>
  )
}

/** Near times in words: `today 14:05`; UTC in its title. */
export function Moment({ at }: { at: string }) {
  return (
    <time dateTime={at} title={at} class="time">
      {shownMoment(Date.parse(at))}
    </time>
  )
}

/** The time elapsed, `inFull` for viewers of links; the time itself in its title. */
export function Ago({ at, inFull = false }: { at: string; inFull?: boolean }) {
  const ms = Date.parse(at)
  return (
    <time dateTime={at} title={`${shownDateTime(ms)} ${offset(ms, shownZone())}`} class="time">
      {(inFull ? agoInWords : ago)(ms, now.value)}
    </time>
  )
}
