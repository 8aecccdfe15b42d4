import { date, fromInput, nextDay, toInput } from './times.ts'

/** The end of a range in a field: `2026-11-20T14:05`, or `2026-11-20T` for the end of that day. */
export function endInput(ms: number, zone: string): string {
  const day = date(ms - 1, zone)
  return endMoment(`${day}T`, zone) === ms ? `${day}T` : toInput(ms, zone)
}

/** The moment before which the range ends; undefined for a malformed text. */
export function endMoment(text: string, zone: string): number | undefined {
  const [day = '', clock = ''] = text.split('T')
  if (clock !== '' || day === '') return fromInput(text, zone)
  return fromInput(`${nextDay(day, 1)}T00:00`, zone)
}
