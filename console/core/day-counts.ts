import { dayCount, type Span } from './span.ts'

/** How many records a device has of each day; days without any may be missing. */
export type DayCounts = ReadonlyMap<string, { readonly count: number }>

/** The service reads as many records within a second. */
const MOST_RECORDS = 100_000

/**
 * The days to read next: those nearest to a day, within one month and within the size of one
 * request. Undefined if nothing is missing.
 */
export function nextDays(missing: DayCounts, near: string): Span | undefined {
  const away = (day: string) => Math.abs(dayCount({ first: near, last: day }) - 1)
  const days = [...missing.keys()].sort((a, b) => away(a) - away(b))
  const [nearest] = days
  if (nearest === undefined) return undefined
  let [first, last, records] = [nearest, nearest, 0]
  for (const day of days.filter((one) => one.slice(0, 7) === nearest.slice(0, 7))) {
    records += missing.get(day)?.count ?? 0
    if (records > MOST_RECORDS) break
    if (day < first) first = day
    if (day > last) last = day
  }
  return { first, last }
}
