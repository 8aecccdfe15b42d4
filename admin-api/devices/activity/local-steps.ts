export const STEPS = ['hour', 'day'] as const
export type StepUnit = (typeof STEPS)[number]

const HOUR_MS = 60 * 60 * 1_000
const DAY_MS = 24 * HOUR_MS

export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

/**
 * The times at which the hours or days of a time zone begin: the last one at or before `from`,
 * those up to `to`, and one more; undefined when there are more than `most` steps. An hour that a
 * clock change repeats counts as two hours, an hour that it skips as none.
 */
export function localSteps(
  { from, to, step, timeZone }: { from: number; to: number; step: StepUnit; timeZone: string },
  most: number,
): number[] | undefined {
  const clock = localClock(timeZone)
  const [beginning, next] = step === 'day' ? [beginningOfDay, nextDay] : [beginningOfHour, nextHour]
  const starts = [beginning(from, clock)]
  for (let last = starts[0] ?? from; last < to; starts.push(last)) {
    if (starts.length > most) return undefined
    last = next(last, clock)
  }
  return starts
}

/** The local time in the zone, in milliseconds as if it were UTC. */
type LocalClock = (time: number) => number

function localClock(timeZone: string): LocalClock {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'iso8601',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  return function clock(time) {
    const parts = new Map(
      format.formatToParts(time).map(({ type, value }) => [type, Number(value)]),
    )
    const of = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0
    return Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'))
  }
}

function beginningOfHour(time: number, clock: LocalClock): number {
  const wholeSeconds = Math.floor(time / 1_000) * 1_000
  const shown = clock(time)
  const beginning = wholeSeconds - (shown % HOUR_MS)
  // Near a clock change the hour began at another time: with the change, or before it.
  const strayed = shown - (shown % HOUR_MS) - clock(beginning)
  return beginning + (Math.abs(strayed) < HOUR_MS ? strayed : 0)
}

function nextHour(start: number, clock: LocalClock): number {
  const next = start + HOUR_MS - (clock(start) % HOUR_MS)
  const rest = clock(next) % HOUR_MS
  // Half an hour was repeated: the hour lasts until the clock shows the next one.
  const setBack = clock(next) - clock(start) < HOUR_MS
  return rest === 0 || !setBack ? next : next + HOUR_MS - rest
}

function beginningOfDay(time: number, clock: LocalClock): number {
  const shown = clock(time)
  return firstMoment(shown - modulo(shown, DAY_MS), clock)
}

function nextDay(start: number, clock: LocalClock): number {
  // 36 hours later it is the next day in every time zone, even across changes of the clock.
  return beginningOfDay(start + 1.5 * DAY_MS, clock)
}

/**
 * The first time at which a clock shows this midnight, or the time after it if the clock skips it.
 */
function firstMoment(midnight: number, clock: LocalClock): number {
  const offsets = [midnight - DAY_MS, midnight + DAY_MS].map((time) => clock(time) - time)
  const candidates = offsets.map((offset) => midnight - offset).sort((a, b) => a - b)
  const shown = candidates.find((candidate) => clock(candidate) === midnight)
  return shown ?? midnight - (offsets[0] ?? 0)
}

function modulo(a: number, b: number): number {
  return ((a % b) + b) % b
}
