/** The time, passed in so that tests decide it. */
export type Clock = { now(): number }

/** Milliseconds since the epoch, from the machine's clock. */
export const systemClock: Clock = { now: () => Date.now() }

/**
 * Milliseconds since some moment, for ages and pauses: unlike the machine's clock it is never set
 * back or forward.
 */
export const steadyClock: Clock = { now: () => performance.now() }
