/** A time in which something moves. */
type Drive = { readonly from: number; readonly to: number }

/** How many times as fast as it was a replay can be. */
export const REPLAY_SPEEDS = [1, 10, 60, 180, 600, 1_800] as const
const USUAL_SPEED = 60
/** All driving is replayed in about this time. */
const REPLAYED_MS = 60_000

/** When a replay at a moment goes on: at once while any of them moves, else with the next; Infinity after the last. */
export function skipRest(drives: readonly Drive[], at: number): number {
  let next = Infinity
  for (const { from, to } of drives) {
    if (from <= at && at < to) return at
    if (from > at) next = Math.min(next, from)
  }
  return next
}

/** The speed at which a replay of these drives takes about a minute. */
export function replaySpeed(drives: readonly Drive[]): number {
  const ms = drives.reduce((sum, { from, to }) => sum + to - from, 0)
  if (ms === 0) return USUAL_SPEED
  return REPLAY_SPEEDS.findLast((speed) => speed <= ms / REPLAYED_MS) ?? REPLAY_SPEEDS[0]
}
