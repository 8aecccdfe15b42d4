import { livenessOf, type Liveness } from '../../../schemas/liveness.ts'
import type { components } from '../../api/schema.ts'
import { shownMoment } from '../../ui/shown.ts'

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

/** Shown in place of devices that have not reported since their link was made. */
export const NO_POSITION = 'No position yet. It appears here when there is one.'

/** Explains a device's silence to people waiting for it; `at` is the time of its last position. */
export function silenceText(at: number): string {
  return `It may have no network. Its last known position is from ${shownMoment(at).replace(/^today /, '')}.`
}
