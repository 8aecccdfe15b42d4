import type { ApiPosition } from './live-device.ts'

export type ClockError = ClockBehind | ClockAhead

/** A device whose clock is ahead: its last report is dated after its arrival. */
type ClockAhead = {
  readonly kind: 'clock-ahead'
  readonly datedMs: number
  readonly receivedMs: number
}

/** A device whose clock is far behind: its reports are dated long before their arrival. */
type ClockBehind = {
  readonly kind: 'clock-behind'
  /** The date in the device's newest report, and the time of the report's arrival. */
  readonly datedMs: number
  readonly receivedMs: number
  /** Whether a GPS receiver that counts weeks in ten bits explains the error. */
  readonly isRollover: boolean
  /** Whether the last position also has a wrong date; if not, it is older than the error. */
  readonly isLast: boolean
}

type DatedPosition = Pick<ApiPosition, 'timestamp' | 'receivedAt' | 'imported'>

const DAY_MS = 86_400_000
/** GPS week numbers start over at 0 after 1024 weeks. */
export const ROLLOVER_MS = 1_024 * 7 * DAY_MS
/** No app stores reports for this long. */
const BEHIND_MS = 180 * DAY_MS
/** Clocks not set for weeks are off by seconds. */
const AHEAD_MS = 2 * 60_000

/**
 * How far ahead a clock is according to a report, in milliseconds; small differences do not count.
 */
export function aheadMs(position: DatedPosition): number | undefined {
  const ms = -delayMs(position)
  return position.imported !== true && ms >= AHEAD_MS ? ms : undefined
}

/**
 * The error of a device's clock; undefined if none is known. Reports dated in the past go into the
 * history and do not change the last position, so the device seems to stay where it is.
 * @param positions some positions with past dates, in any order.
 */
export function clockError(
  last: DatedPosition,
  positions: readonly DatedPosition[],
): ClockError | undefined {
  const lastMs = Date.parse(last.receivedAt)
  if (aheadMs(last) !== undefined) {
    return { kind: 'clock-ahead', datedMs: Date.parse(last.timestamp), receivedMs: lastMs }
  }
  const [newest] = [last, ...positions]
    .filter((one) => one.imported !== true && delayMs(one) > BEHIND_MS)
    .map((one) => ({ datedMs: Date.parse(one.timestamp), receivedMs: Date.parse(one.receivedAt) }))
    .sort((a, b) => b.receivedMs - a.receivedMs)
  if (newest === undefined) return undefined
  const { datedMs, receivedMs } = newest
  const isLast = last.imported !== true && delayMs(last) > BEHIND_MS
  // A correctly dated last position arrived later.
  if (receivedMs < lastMs && last.imported !== true) return undefined
  const isRollover = Math.abs(receivedMs - datedMs - ROLLOVER_MS) < DAY_MS
  return { kind: 'clock-behind', datedMs, receivedMs, isRollover, isLast }
}

function delayMs({ timestamp, receivedAt }: DatedPosition): number {
  return Date.parse(receivedAt) - Date.parse(timestamp)
}
