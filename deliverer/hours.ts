import { localClock } from '../schemas/geo/local-time.ts'
import type { Hours } from '../schemas/subscriptions/subscription.ts'

const MINUTE_MS = 60_000
const DAY_MINUTES = 24 * 60
const DAYS = 7
/** 1970-01-01 was a Thursday. */
const FIRST_DAY = 4

/** Whether a time is within the hours, by the clock of their zone. */
export function isWithinHours({ days, from, to, zone }: Hours, time: number): boolean {
  const shown = Math.floor(localClock(zone)(time) / MINUTE_MS)
  const minute = ((shown % DAY_MINUTES) + DAY_MINUTES) % DAY_MINUTES
  const day = (shown - minute) / DAY_MINUTES
  const [begin, end] = [minutesOf(from), minutesOf(to)]
  if (begin < end) return isListed(days, day) && begin <= minute && minute < end
  // Over midnight: the early hours belong to the day before.
  return minute >= begin ? isListed(days, day) : minute < end && isListed(days, day - 1)
}

function isListed(days: readonly number[], day: number): boolean {
  return days.includes(((((day + FIRST_DAY - 1) % DAYS) + DAYS) % DAYS) + 1)
}

function minutesOf(text: string): number {
  const [hours = 0, minutes = 0] = text.split(':').map(Number)
  return hours * 60 + minutes
}
