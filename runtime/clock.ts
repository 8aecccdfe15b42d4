/** The current time, passed in so that tests can control it. */
export type Clock = { now(): number }

/** Milliseconds since the epoch, from the machine's clock. */
export const systemClock: Clock = { now: () => Date.now() }

/**
 * Monotonic milliseconds, for ages and pauses: unlike the machine's clock it is never adjusted.
 */
export const steadyClock: Clock = { now: () => performance.now() }
