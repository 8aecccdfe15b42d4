import { devicePath } from './address.ts'

/** A time in which something moves. */
type Drive = { readonly from: number; readonly to: number }

/** The speeds of a replay, as multiples of real time. */
export const REPLAY_SPEEDS = [1, 10, 60, 180, 600, 1_800] as const
const USUAL_SPEED = 60
/** All driving is replayed in about this time. */
const REPLAYED_MS = 60_000

/**
 * The moment at which a replay continues: immediately while any device moves, otherwise with the
 * next movement; Infinity after the last.
 */
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

/** Maximum number of devices in a replay: all tracks are loaded and drawn together. */
export const MOST_REPLAYED = 10
/** Device ids contain no line breaks. */
const SEPARATOR = '\n'

/** The other devices named in the address (`with`), so that a replay can be shared. */
export function parseOtherDevices(query: URLSearchParams): readonly string[] {
  const ids = query.get('with')?.split(SEPARATOR).filter(Boolean) ?? []
  return ids.slice(0, MOST_REPLAYED - 1)
}

/** The speed as written in the address. */
export function formatOtherDevices(deviceIds: readonly string[]): string {
  return deviceIds.join(SEPARATOR)
}

/** The page of the first device, with all devices in the replay. */
export function replayPath([first = '', ...others]: readonly string[]): string {
  return `${devicePath(first)}?${new URLSearchParams({ with: formatOtherDevices(others) })}`
}
