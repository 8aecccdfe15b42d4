export const STEPS = ['hour', 'day'] as const
export type StepUnit = (typeof STEPS)[number]

const HOUR_MS = 60 * 60 * 1_000
const DAY_MS = 24 * HOUR_MS

/** Formatters take much native memory, invisible to the garbage collector. */
const MOST_FORMATS = 64
/**
 * Keyed by the zone's lower-case name, because spellings differ only in case; least recently used
 * first.
 */
const formats = new Map<string, Intl.DateTimeFormat>()

export function isTimeZone(name: string): boolean {
  try {
    return formatOf(name).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

/** The local time of a zone, in milliseconds as if it were UTC. */
export type LocalClock = (time: number) => number

export function localClock(timeZone: string): LocalClock {
  const format = formatOf(timeZone)
  return function clock(time) {
    const parts = new Map(
      format.formatToParts(time).map(({ type, value }) => [type, Number(value)]),
    )
    const of = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0
    const [year, month, day] = [of('year'), of('month') - 1, of('day')]
    return Date.UTC(year, month, day, of('hour'), of('minute'), of('second'), modulo(time, 1_000))
  }
}

/** @throws {RangeError} for a name that no zone has. */
function formatOf(timeZone: string): Intl.DateTimeFormat {
  // Other names are not zones, although their lower-case forms may be.
  if (!/^[\x21-\x7e]+$/.test(timeZone)) throw new RangeError('not a time zone')
  const name = timeZone.toLowerCase()
  const format =
    formats.get(name) ??
    new Intl.DateTimeFormat('en-US', {
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
  formats.delete(name)
  formats.set(name, format)
  if (formats.size > MOST_FORMATS) formats.delete(formats.keys().next().value ?? '')
  return format
}

/**
 * The time at which a clock shows this: the first of two, or, if the clock skips it, later by the
 * skipped amount.
 */
export function firstMoment(shown: number, clock: LocalClock): number {
  const offsets = [shown - DAY_MS, shown + DAY_MS].map((time) => clock(time) - time)
  const candidates = offsets.map((offset) => shown - offset).sort((a, b) => a - b)
  const exact = candidates.find((candidate) => clock(candidate) === shown)
  return exact ?? shown - (offsets[0] ?? 0)
}

/**
 * Returns the times at which hours or days start in a time zone: the last one at or before `from`,
 * those up to `to`, and one more; undefined if there are more than `most` steps. An hour repeated
 * by a clock change counts as two hours, a skipped hour as none.
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

function beginningOfHour(time: number, clock: LocalClock): number {
  const shown = clock(time)
  const beginning = time - modulo(shown, HOUR_MS)
  // Near a clock change the hour started at another time: with the change, or before it.
  const strayed = shown - modulo(shown, HOUR_MS) - clock(beginning)
  return beginning + (Math.abs(strayed) < HOUR_MS ? strayed : 0)
}

function nextHour(start: number, clock: LocalClock): number {
  const next = start + HOUR_MS - modulo(clock(start), HOUR_MS)
  const rest = modulo(clock(next), HOUR_MS)
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

function modulo(a: number, b: number): number {
  return ((a % b) + b) % b
}
