/** Beyond this time between two positions, in milliseconds, the path between them is unknown. */
export const LONGEST_STEP_MS = 60 * 60_000

/** Above this speed, in metres per second, nothing can have been driven: it is a leap. */
const LEAP = 300

/**
 * Whether the path between two successive records can be no straight line: it adds neither distance
 * nor moving time, and a trip ends there. Tracks, trips and the console go by this one rule.
 */
export function isPathless(metres: number, ms: number): boolean {
  return ms > LONGEST_STEP_MS || isLeap(metres, ms)
}

export function isLeap(metres: number, ms: number): boolean {
  // Many senders' clocks count whole seconds.
  return metres / ((ms || 1_000) / 1_000) > LEAP
}
