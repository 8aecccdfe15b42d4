import { firstMoment } from '../../schemas/geo/local-time.ts'
import { clockOf } from './times.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
export const DAY_MS = 24 * HOUR

/** Intervals between marks of an axis. Below one second marks would have the same labels. */
const TIME_STEPS = [
  ...[1, 5, 10, 15, 30].map((seconds) => seconds * SECOND),
  ...[1, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 3, 4, 6, 8, 12].map((hours) => hours * HOUR),
  ...[1, 2, 4, 7, 14, 28, 56, 112, 224, 448].map((days) => days * DAY_MS),
]

export type Ticks = { readonly step: number; readonly at: readonly number[] }

/** Marks of an axis of time at round clock times of the zone, at most `most` of them. */
export function timeTicks(from: number, to: number, most: number, zone: string): Ticks {
  const step = TIME_STEPS.find((one) => (to - from) / one <= most) ?? Math.max(DAY_MS, to - from)
  const clock = clockOf(zone)
  const at: number[] = []
  for (let local = Math.ceil(clock(from) / step) * step; at.length <= most; local += step) {
    const moment = firstMoment(local, clock)
    if (moment > to) break
    if (moment >= from && moment !== at.at(-1)) at.push(moment)
  }
  return { step, at }
}

/** Marks of an axis of values, 1, 2 or 5 times a power of ten apart, at most `most` of them. */
export function valueTicks(least: number, greatest: number, most: number, isCount = false): Ticks {
  const power = 10 ** Math.floor(Math.log10((greatest - least) / most || 1))
  const steps = [1, 2, 5, 10, 20].map((times) =>
    isCount ? Math.max(1, power * times) : power * times,
  )
  const ticksOf = (step: number): Ticks => {
    const first = Math.ceil(least / step - 1e-9)
    const last = Math.floor(greatest / step + 1e-9)
    const at = Array.from({ length: Math.max(0, last - first + 1) }, (_, n) => (first + n) * step)
    return { step, at }
  }
  const all = steps.map(ticksOf)
  const fitting = all.filter(({ at }) => at.length <= most)
  return fitting.find(({ at }) => at.length > 1) ?? fitting[0] ?? ticksOf(greatest - least)
}

/**
 * An axis of values spans at least a hundredth of the greatest value: a closer view would show
 * noise, and repeat labels.
 */
const LEAST_PART = 0.01
const MARGIN = 0.1

/** The range of an axis for values: with room on both sides, but not across zero. */
export function valueRange(least: number, greatest: number): readonly [number, number] {
  const lacking = Math.max(Math.abs(least), Math.abs(greatest)) * LEAST_PART - (greatest - least)
  const more = Math.max(0, lacking) / 2 + Math.max(greatest - least, lacking) * MARGIN
  const [low, high] = [least - more, greatest + more]
  if (low === high) return [low, high + 1]
  return [least >= 0 ? Math.max(0, low) : low, greatest <= 0 ? Math.min(0, high) : high]
}
