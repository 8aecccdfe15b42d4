/** Where progress is shown; on a terminal one line is rewritten. */
export type Screen = { readonly isTTY?: boolean; write(text: string): unknown }

const LINE_EVERY_MS = 5_000
const REWRITE_EVERY_MS = 250

export type Progress = {
  show(state: { done: number; total: number }): void
  /** Ends the rewritten line. */
  end(): void
}

/** Shows the progress, the rate and the time left. */
export function showProgress({
  what,
  screen,
  now,
}: {
  what: string
  screen: Screen
  /** Monotonic milliseconds. */
  now: () => number
}): Progress {
  const begun = now()
  const everyMs = screen.isTTY === true ? REWRITE_EVERY_MS : LINE_EVERY_MS
  let shownAt = -Infinity
  let last = ''

  function write(line: string): void {
    if (line === last) return
    last = line
    screen.write(screen.isTTY === true ? `\r\x1b[K${line}` : `${line}\n`)
  }

  return {
    show({ done, total }) {
      const time = now()
      if (time - shownAt < everyMs && done < total) return
      shownAt = time
      write(`${what}: ${progressText({ done, total, elapsedMs: time - begun })}`)
    },
    end() {
      if (screen.isTTY === true && last !== '') screen.write('\n')
      last = ''
    },
  }
}

/** For example `1,200 of 5,000 events (24 %), 600/s, about 6 s left`. */
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
  const text = `${count(done)} of ${count(total)} events (${percent} %)`
  const perSecond = elapsedMs > 0 ? (1_000 * done) / elapsedMs : 0
  if (perSecond < 1) return text
  const left = Math.ceil((total - done) / perSecond)
  const rate = `${text}, ${count(Math.round(perSecond))}/s`
  return left > 0 ? `${rate}, about ${duration(left)} left` : rate
}

export function count(n: number): string {
  return n.toLocaleString('en-US')
}

function duration(seconds: number): string {
  if (seconds < 120) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`
}
