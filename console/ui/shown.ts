import { attributeText } from '../core/readings.ts'
import {
  countText,
  distanceText,
  lengthText,
  numberText,
  speedText,
  type Units,
} from '../core/measures.ts'
import { clockText, dateTime, dayText, momentText } from '../core/date-words.ts'
import { date } from '../core/times.ts'
import { now } from './clock.ts'
import { clockHours, lengthUnit, readerZone, speedUnit } from './preferences.ts'

/**
 * Measures and times in the format selected in the account menu. A component that calls one of
 * these functions is rendered again when the choice changes.
 */

export function readerUnits(): Units {
  return { speed: speedUnit.value, length: lengthUnit.value }
}

/** Formats m/s. */
export function formatSpeed(metresPerSecond: number | undefined): string | undefined {
  return speedText(metresPerSecond, readerUnits())
}

/** Formats a distance in metres: `969 m`, `10.0 km`. */
export function formatDistance(metres: number | undefined): string | undefined {
  return distanceText(metres, readerUnits())
}

/** Formats a height or an accuracy in metres: `1,820 m`. */
export function formatLength(metres: number | undefined): string | undefined {
  return lengthText(metres, readerUnits())
}

export function formatNumber(number: number): string {
  return numberText(number, readerUnits())
}

/** `1 report`, `12,345 reports`. */
export function formatCount(number: number, singular: string): string {
  return countText(number, singular, readerUnits())
}

export function formatAttribute(name: string, value: string | number | boolean): string {
  return attributeText(name, value, readerUnits())
}

/** `14:05:30` or `2:05:30 pm`. */
export function formatClock(ms: number, { hasSeconds = true } = {}): string {
  return clockText(ms, readerZone(), clockHours.value, hasSeconds)
}

/** `Wed 25 Nov 14:05` or `Wed Nov 25 2:05 pm`. */
export function formatDateTime(ms: number, { hasSeconds = false } = {}): string {
  return dateTime(ms, { ...words(), hasSeconds })
}

/** `yesterday 22:24`, `today 22:24`, `tomorrow 22:24`, `Tue 3 Feb 22:24`. */
export function formatMoment(ms: number): string {
  return momentText(ms, words())
}

function words() {
  return { now: now.value, zone: readerZone(), clock: clockHours.value }
}

/** A moment within a sentence: `at 14:05`, or on another day than today `on Sun 22 Nov at 14:05`. */
export function formatAt(ms: number): string {
  const day = date(ms, readerZone())
  const today = date(now.value, readerZone())
  const clock = `at ${formatClock(ms, { hasSeconds: false })}`
  return day === today ? clock : `on ${dayText(day, today)} ${clock}`
}
