import { labelOf, type LiveDevice, type ShownStatus } from './live-device.ts'

export const STATUSES: readonly ShownStatus[] = ['online', 'idle', 'offline', 'disabled']
export const SORTS = ['name', 'seen', 'speed'] as const
export type Sort = (typeof SORTS)[number]

export type Choice = {
  /** Empty: devices of all statuses. */
  readonly statuses: ReadonlySet<ShownStatus>
  /** Part of a name or id, case ignored. */
  readonly text: string
}

export function countByStatus(devices: Iterable<LiveDevice>): Record<ShownStatus, number> {
  const counts = { online: 0, idle: 0, offline: 0, disabled: 0 }
  for (const { status } of devices) counts[status] += 1
  return counts
}

export function choose(devices: Iterable<LiveDevice>, { statuses, text }: Choice): LiveDevice[] {
  const wanted = text.trim().normalize('NFC').toLowerCase()
  const chosen: LiveDevice[] = []
  for (const device of devices) {
    if (statuses.size > 0 && !statuses.has(device.status)) continue
    if (wanted !== '' && !device.words.includes(wanted)) continue
    chosen.push(device)
  }
  return chosen
}

const byName = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' })

/**
 * Sorts in place: pinned devices first, then by the sort, then by id, so that equal devices do not
 * flicker.
 */
export function sortDevices(
  devices: LiveDevice[],
  { sort, pinned }: { readonly sort: Sort; readonly pinned: ReadonlySet<string> },
): LiveDevice[] {
  const rank = (device: LiveDevice) => (pinned.has(device.deviceId) ? 0 : 1)
  const compare: Record<Sort, (a: LiveDevice, b: LiveDevice) => number> = {
    name: (a, b) => byName.compare(labelOf(a), labelOf(b)),
    seen: (a, b) => b.lastSeenMs - a.lastSeenMs,
    speed: (a, b) => (b.position.speed ?? -1) - (a.position.speed ?? -1),
  }
  return devices.sort(
    (a, b) => rank(a) - rank(b) || compare[sort](a, b) || (a.deviceId < b.deviceId ? -1 : 1),
  )
}

/**
 * The previous order of the devices, without those that are gone; new devices come last. For a list
 * under somebody's pointer: nothing may move under the finger.
 */
export function keepOrder(devices: LiveDevice[], before: readonly LiveDevice[]): LiveDevice[] {
  const left = new Set(devices)
  const kept = before.filter((device) => left.delete(device))
  return [...kept, ...left]
}
