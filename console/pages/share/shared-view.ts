import { livenessOf, type Liveness } from '../../../schemas/devices/liveness.ts'
import type { components } from '../../api/schema.ts'
import { motionAfter, type Motion } from '../../core/motion.ts'
import { date } from '../../core/times.ts'
import { now } from '../../ui/clock.ts'
import { shownZone } from '../../ui/preferences.ts'
import { shownClock, shownDateTime } from '../../ui/shown.ts'

export type Shared = components['schemas']['Shared']
export type ViewedDevice = components['schemas']['SharedDevice']

/**
 * Updates a share with a stream event of one of its devices; late reports do not move the device.
 */
export function withPosition(shared: Shared, update: ViewedDevice): Shared {
  const before = shared.items.find(({ ref }) => ref === update.ref)
  if (before !== undefined && before.timestamp >= update.timestamp) return shared
  const { latitude, longitude, timestamp } = update
  const from = Date.parse(timestamp) - shared.trailMinutes * 60_000
  const trail = [...(before?.trail ?? []), { latitude, longitude, timestamp }].filter(
    (point) => Date.parse(point.timestamp) >= from,
  )
  const now: ViewedDevice = { ...update, ...(shared.trailMinutes > 0 && { trail }) }
  const items =
    before === undefined
      ? [...shared.items, now]
      : shared.items.map((one) => (one === before ? now : one))
  return { ...shared, items }
}

export function statusOf({ timestamp }: Pick<ViewedDevice, 'timestamp'>, at: number): Liveness {
  return livenessOf({ lastSeenAt: Date.parse(timestamp) }, at)
}

/** The device's motion, judged by its trail. */
export function motionOf({ trail = [], ...device }: ViewedDevice): Motion {
  const earlier = trail.filter(({ timestamp }) => timestamp < device.timestamp)
  return [...earlier, device].reduce<Motion | undefined>(
    (before, position) =>
      motionAfter(before, position, { atMs: Date.parse(position.timestamp), isNext: true }),
    undefined,
  ) as Motion
}

/** A moment for the reader: `19:04`, on another day `Tue 24 Nov 19:04`. */
export function readerTime(at: number): string {
  const [day, today] = [at, now.value].map((ms) => date(ms, shownZone()))
  return day === today ? shownClock(at, { hasSeconds: false }) : shownDateTime(at)
}

/** Shown in place of devices that have not reported since their link was made. */
export const NO_POSITION = 'No position yet. It appears here when there is one.'

/** Explains a device's silence to people waiting for it; `at` is the time of its last position. */
export function silenceText(at: number): string {
  return `It may have no network. Its last known position is from ${readerTime(at)}.`
}
