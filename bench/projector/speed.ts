/** How fast events were written. */
export type Speed = { readonly perSecond: number; readonly cpuMicros: number }

/**
 * Measures from the end of the first batch, which waits for connections and the like, or of the one in which this
 * many events had been written.
 */
export function stopwatch({ after = 1 } = {}) {
  let begun: { readonly at: number; readonly cpu: NodeJS.CpuUsage } | undefined
  let before = 0
  let endedAt = 0
  let used: NodeJS.CpuUsage = { user: 0, system: 0 }
  let events = 0
  return {
    /** Counts a written batch of this many events. */
    count(more: number): void {
      if (begun === undefined) {
        before += more
        if (before < after) return
        begun = { at: performance.now(), cpu: process.cpuUsage() }
        return
      }
      events += more
      endedAt = performance.now()
      used = process.cpuUsage(begun.cpu)
    },

    read(): Speed {
      return {
        perSecond: (events * 1000) / (endedAt - (begun?.at ?? NaN)),
        cpuMicros: (used.user + used.system) / events,
      }
    },
  }
}
