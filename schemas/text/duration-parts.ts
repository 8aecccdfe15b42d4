export type DurationUnit = 'second' | 'minute' | 'hour' | 'day'

const SECONDS: Readonly<Record<DurationUnit, number>> = {
  second: 1,
  minute: 60,
  hour: 3_600,
  day: 86_400,
}

/**
 * A length of time in at most two units, rounded to minutes, and from two days on to hours:
 * `40 s`, `12 min`, `2 h 20 min`, `3 d 4 h`. Never empty.
 */
export function durationParts(
  seconds: number,
): readonly (readonly [number: number, unit: DurationUnit])[] {
  const whole = Math.round(seconds)
  if (whole < SECONDS.minute) return [[Math.max(0, whole), 'second']]
  const minutes = Math.round(seconds / SECONDS.minute)
  const parts =
    minutes * SECONDS.minute < 2 * SECONDS.day
      ? split(minutes * SECONDS.minute, 'hour', 'minute')
      : split(Math.round(seconds / SECONDS.hour) * SECONDS.hour, 'day', 'hour')
  return parts.filter(([number]) => number > 0)
}

/** Formats a duration in English: `2 h 20 min`. */
export function durationText(seconds: number): string {
  return durationParts(seconds)
    .map(([number, unit]) => `${number} ${SYMBOLS[unit]}`)
    .join(' ')
}

const SYMBOLS: Readonly<Record<DurationUnit, string>> = {
  second: 's',
  minute: 'min',
  hour: 'h',
  day: 'd',
}

function split(seconds: number, large: DurationUnit, small: DurationUnit) {
  const number = Math.floor(seconds / SECONDS[large])
  const rest = (seconds - number * SECONDS[large]) / SECONDS[small]
  return [
    [number, large],
    [rest, small],
  ] as const
}
