import { now } from './clock.ts'
import { shownZone } from './preferences.ts'
import { ago, dateTime, offset } from '../core/times.ts'

/** A time in the chosen time zone; UTC in its title. */
export function Time({ at }: { at: string }) {
  const ms = Date.parse(at)
  return (
    <time dateTime={at} title={at} class="time">
      {dateTime(ms, shownZone())}
    </time>
  )
}

/** The time elapsed; the time itself in its title. */
export function Ago({ at }: { at: string }) {
  const ms = Date.parse(at)
  const zone = shownZone()
  return (
    <time dateTime={at} title={`${dateTime(ms, zone)} ${offset(ms, zone)}`} class="time">
      {ago(ms, now.value)}
    </time>
  )
}
