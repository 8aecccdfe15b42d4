/** The output for progress: standard error, so that results can be piped. */
export type Screen = {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

const LINE_EVERY_MS = 5_000
const REWRITE_EVERY_MS = 250

export type Progress = {
  /** Shows the line, unless the last one was shown very recently; `isLast`: always shows it. */
  show(line: () => string, options?: { isLast?: boolean }): void
  /** Ends the rewritten line. */
  end(): void
}

/**
 * Shows the progress of a command: on a terminal in one rewritten line, elsewhere in occasional
 * lines.
 */
export function showProgress({
  screen,
  now,
}: {
  screen: Screen
  /** Monotonic milliseconds. */
  now: () => number
}): Progress {
  const isTerminal = screen.isTTY === true
  const everyMs = isTerminal ? REWRITE_EVERY_MS : LINE_EVERY_MS
  let shownAt = -Infinity
  let last = ''

  return {
    show(lineOf, { isLast = false } = {}) {
      const time = now()
      if (time - shownAt < everyMs && !isLast) return
      shownAt = time
      const line = lineOf()
      if (line === last) return
      last = line
      // A line that wraps could not be rewritten.
      const shown = line.slice(0, (screen.columns ?? Infinity) - 1)
      screen.write(isTerminal ? `\r\x1b[K${shown}` : `${line}\n`)
    },
    end() {
      if (isTerminal && last !== '') screen.write('\n')
      last = ''
    },
  }
}

/** Formats progress, for example `1,200 of 5,000 events (24 %), 600/s, about 6 s left`. */
export function progressText({
  done,
  total,
  elapsedMs,
}: {
  done: number
  total: number
  elapsedMs: number
}): string {
  const percent = total === 0 ? 100 : Math.floor((100 * done) / total)
  const text = `${formatThousands(done)} of ${formatThousands(total)} events (${percent} %)`
  const perSecond = elapsedMs > 0 ? (1_000 * done) / elapsedMs : 0
  if (perSecond < 1) return text
  const left = timeLeft((total - done) / perSecond)
  return [`${text}, ${formatThousands(Math.round(perSecond))}/s`, ...left].join(', ')
}

export function formatThousands(n: number): string {
  return n.toLocaleString('en-US')
}

/** Formats the remaining time, for example `about 6 s left`; empty when done. */
export function timeLeft(seconds: number): string[] {
  const whole = Math.ceil(seconds)
  const minutes = Math.round(whole / 60)
  if (whole <= 0) return []
  if (whole < 120) return [`about ${whole} s left`]
  return [`about ${minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`} left`]
}
