/** The time, passed in so that tests decide it. */
export type Clock = { now(): number }

/** Milliseconds since the epoch, from the machine's clock. */
export const systemClock: Clock = { now: () => Date.now() }
