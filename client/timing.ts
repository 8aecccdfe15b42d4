/** Clock and timers, passed in so that tests can control time. */
export type Timing = {
  /** Milliseconds since the epoch, never decreasing. */
  now(): number
  /** Resolves after `ms`, or as soon as `signal` is aborted. */
  pause(ms: number, signal: AbortSignal): Promise<void>
  /** A random number in [0, 1), to spread out retries. */
  jitter(): number
}

export const realTiming: Timing = {
  now: () => performance.timeOrigin + performance.now(),
  pause: (ms, signal) =>
    new Promise((resolve) => {
      const timer = setTimeout(end, ms)
      signal.addEventListener('abort', end)
      if (signal.aborted) end()

      function end() {
        clearTimeout(timer)
        signal.removeEventListener('abort', end)
        resolve()
      }
    }),
  jitter: () => Math.random(),
}
