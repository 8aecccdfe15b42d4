import { ownCpuMicros } from '../cpu-time.ts'

/** How fast events were written. */
export type Speed = { readonly perSecond: number; readonly cpuMicros: number }

/**
 * Measures from the end of the first batch, which waits for connections and the like, or of the one in which this
 * many events had been written.
 */
export function stopwatch({ after = 1 } = {}) {
  let begunAt = NaN
  let cpu: (() => number) | undefined
  let before = 0
  let events = 0
  let speed: Speed = { perSecond: NaN, cpuMicros: NaN }
  return {
    /** Counts a written batch of this many events. */
    count(more: number): void {
      if (cpu === undefined) {
        before += more
        if (before < after) return
        begunAt = performance.now()
        cpu = ownCpuMicros()
        return
      }
      events += more
      const perSecond = (events * 1000) / (performance.now() - begunAt)
      speed = { perSecond, cpuMicros: cpu() / events }
    },
    read: () => speed,
  }
}
