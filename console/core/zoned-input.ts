import { date, offset, time } from './times.ts'

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
