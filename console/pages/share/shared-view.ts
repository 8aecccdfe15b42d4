import { livenessOf, type Liveness } from '../../../schemas/liveness.ts'
import type { components } from '../../api/schema.ts'
import { motionAfter, type Motion } from '../../core/motion.ts'
import { now } from '../../ui/clock.ts'

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

/** A moment as the reader's language writes it: `19:04`, on another day `Tue, 24 Nov, 19:04`. */
export function readerTime(at: number, today: number): string {
  const moment = new Date(at)
  const time = moment.toLocaleTimeString(undefined, { timeStyle: 'short' })
  if (moment.toDateString() === new Date(today).toDateString()) return time
  const day = { weekday: 'short', day: 'numeric', month: 'short' } as const
  return `${moment.toLocaleDateString(undefined, day)}, ${time}`
}

/** Shown in place of devices that have not reported since their link was made. */
export const NO_POSITION = 'No position yet. It appears here when there is one.'

/** Explains a device's silence to people waiting for it; `at` is the time of its last position. */
export function silenceText(at: number): string {
  return `It may have no network. Its last known position is from ${readerTime(at, now.value)}.`
}
