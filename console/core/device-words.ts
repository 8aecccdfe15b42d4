import { aheadMs } from './clock-error.ts'
import { batteryText, METRIC, speedText, type Units } from './measures.ts'
import { newestTelemetry, type LiveDevice, type ShownStatus } from './live-device.ts'
import { isMoving } from './motion.ts'
import { ago, duration } from './times.ts'

export const STATUS_WORDS: Readonly<Record<ShownStatus, string>> = {
  online: 'Online',
  idle: 'Quiet',
  offline: 'Offline',
  disabled: 'Disabled',
}

/** `Online, 4 min ago`. */
export function connectionText(
  { status, lastSeenMs }: { readonly status: ShownStatus; readonly lastSeenMs: number },
  now: number,
): string {
  return `${STATUS_WORDS[status]}, ${ago(lastSeenMs, now)}`
}

/** A position this much older than the newest receipt does not show the current motion. */
const OLD_MS = 300_000
const MINUTE_MS = 60_000

/**
 * `Moving 31 km/h`, `Stopped 1 h 40 min`, `Stopped` if the start of the stop is unknown, `Was
 * moving 31 km/h` for a device that no longer reports, `position 2 d old`; undefined if nothing is
 * known. Mentions a clock that is ahead.
 */
export function motionText(
  device: Pick<LiveDevice, 'status' | 'lastSeenMs' | 'motion' | 'position'>,
  now: number,
  units = METRIC,
): string | undefined {
  const words = [movementText(device, now, units), clockText(device.position)]
  return words.filter((one) => one !== undefined).join(' · ') || undefined
}

/** `clock 3 h ahead`; undefined if it is right or unknown. */
function clockText(position: LiveDevice['position']): string | undefined {
  const ms = aheadMs(position)
  return ms === undefined ? undefined : `clock ${duration(ms)} ahead`
}

/** Like `motionText`, but without mentioning the clock. */
export function movementText(
  { status, lastSeenMs, motion }: Pick<LiveDevice, 'status' | 'lastSeenMs' | 'motion'>,
  now: number,
  units: Units,
): string | undefined {
  const { speed, sinceMs, atMs } = motion
  if (lastSeenMs - atMs > OLD_MS) return `position ${duration(now - atMs)} old`
  if (speed === undefined) return undefined
  const isNow = status === 'online'
  if (isMoving(motion)) return `${isNow ? 'Moving' : 'Was moving'} ${speedText(speed, units)}`
  if (!isNow) return 'Was stopped'
  const stoppedMs = sinceMs === undefined ? 0 : now - sinceMs
  return stoppedMs < MINUTE_MS
    ? 'Stopped'
    : `Stopped ${duration(stoppedMs - (stoppedMs % MINUTE_MS))}`
}

/** At this level and below, a battery counts as low. */
export const LOW_BATTERY = 0.15

/**
 * The states of a device that need attention: `Quiet`, `Battery 8 %`, `Too warm`, the name of a
 * raised rule.
 */
export function listExceptions(
  device: Pick<LiveDevice, 'status' | 'raised' | 'position' | 'telemetry'>,
  ruleNames: ReadonlyMap<string, string> = new Map(),
): readonly string[] {
  const { battery = 1 } = newestTelemetry(device)
  const rules = device.raised.length
  const [first = ''] = device.raised
  return [
    device.status === 'online' ? [] : STATUS_WORDS[device.status],
    rules === 0
      ? []
      : rules === 1
        ? (ruleNames.get(first) ?? 'Rule raised')
        : `${rules} rules raised`,
    battery > LOW_BATTERY ? [] : `Battery ${batteryText(battery)}`,
  ].flat()
}
