import { finished, total, type Tally } from './tally.ts'

/** Where progress is shown: standard error, so that the summary can be piped. */
export type Screen = {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

const ERASE_LINE = '\r\u001b[K'

/**
 * Shows the progress of a run until the returned function is called: on a terminal in one rewritten
 * line, elsewhere a line every few seconds.
 * @param expected reports in all; Infinity if only the user ends the run.
 */
export function showProgress({
  screen,
  tally,
  expected,
  now,
  everyMs = screen.isTTY === true ? 200 : 5_000,
}: {
  screen: Screen
  tally: Tally
  expected: number
  now: () => number
  everyMs?: number
}): () => void {
  const startedAt = now()
  const timer = setInterval(() => {
    const line = progressLine({ tally, expected, elapsedMs: now() - startedAt })
    // A line that wraps could not be erased.
    const shown = screen.isTTY === true ? line.slice(0, (screen.columns ?? 80) - 1) : `${line}\n`
    screen.write(screen.isTTY === true ? `${ERASE_LINE}${shown}` : shown)
  }, everyMs)
  return () => {
    clearInterval(timer)
    if (screen.isTTY === true) screen.write(ERASE_LINE)
  }
}

/** The state of a run in a line; the rate is the average of the run. */
export function progressLine({
  tally,
  expected,
  elapsedMs,
}: {
  tally: Tally
  expected: number
  elapsedMs: number
}): string {
  const done = finished(tally)
  const perSecond = elapsedMs > 0 ? (done * 1000) / elapsedMs : 0
  const of = Number.isFinite(expected) ? `/${expected}` : ''
  const lost = total(tally.refused) + total(tally.givenUp)
  return [
    `sent ${tally.sent}${of}`,
    `acknowledged ${tally.acknowledged}`,
    `refused ${lost}`,
    `in flight ${tally.sent - done}`,
    `${perSecond.toFixed(1)}/s`,
    ...(Number.isFinite(expected) && perSecond > 0
      ? [`${clockTime((expected - done) / perSecond)} left`]
      : []),
  ].join('  ')
}

function clockTime(seconds: number): string {
  const whole = Math.ceil(seconds)
  const pad = (value: number) => String(value).padStart(2, '0')
  const minutes = Math.floor(whole / 60)
  return minutes < 60
    ? `${minutes}:${pad(whole % 60)}`
    : `${Math.floor(minutes / 60)}:${pad(minutes % 60)}:${pad(whole % 60)}`
}
