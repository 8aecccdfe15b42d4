import { now } from './clock.ts'
import { shownZone } from './preferences.ts'
import { ago, offset } from '../core/times.ts'
import { shownDateTime } from './shown.ts'

/** A time in the chosen time zone; UTC in its title. */
export function Time({ at }: { at: string }) {
  const ms = Date.parse(at)
  return (
    <time dateTime={at} title={at} class="time">
      {shownDateTime(ms)}
    </time>
  )
}

/** The time elapsed; the time itself in its title. */
export function Ago({ at }: { at: string }) {
  const ms = Date.parse(at)
  return (
    <time dateTime={at} title={`${shownDateTime(ms)} ${offset(ms, shownZone())}`} class="time">
      {ago(ms, now.value)}
    </time>
  )
}
