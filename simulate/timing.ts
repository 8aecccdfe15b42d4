import { setTimeout as wait } from 'node:timers/promises'

/** The time and how it passes, handed in so that tests decide it. */
export type Timing = {
  /** Milliseconds since the epoch, never going back. */
  now(): number
  /** Resolves after `ms`, or as soon as `signal` is aborted. */
  pause(ms: number, signal: AbortSignal): Promise<void>
  /** A number from 0 to below 1 that spreads repeats out. */
  jitter(): number
}

export const realTiming: Timing = {
  now: () => performance.timeOrigin + performance.now(),
  pause: (ms, signal) => wait(ms, undefined, { signal }).catch(() => undefined),
  jitter: () => Math.random(),
}
