import { metresBetween, type Coordinates } from '../../schemas/geo/distance.ts'
import { isFound, wholeWords, type SearchKey } from '../../schemas/devices/device-search.ts'
import { byName, COLUMNS, type ColumnId, type DeviceColumn } from './device-columns.ts'
import { labelOf, type LiveDevice, type ShownStatus } from './live-device.ts'

export const STATUSES: readonly ShownStatus[] = ['online', 'idle', 'offline', 'disabled']

/**
 * `match`: the best match of the search comes first. `distance`: the device nearest to a chosen
 * spot.
 */
export type Sort = { readonly by: ColumnId | 'match' | 'distance'; readonly isDescending: boolean }

type DeviceFilter = {
  /** Statuses to include; if empty, all. */
  readonly statuses: ReadonlySet<ShownStatus>
  /** A label that devices must have; empty: no restriction. */
  readonly label: string
  readonly words: readonly SearchKey[]
  /**
   * Ids of a geofence that devices must be in, and of a rule that must be raised for them; empty:
   * no restriction.
   */
  readonly geofence?: string
  readonly rule?: string
}

/**
 * Parses a sort from the address: `-seen`; an empty text means best match in a search, and
 * otherwise by distance from a chosen spot, or by name.
 */
export function readSort(
  text: string,
  { words, hasSpot = false }: Pick<DeviceFilter, 'words'> & { readonly hasSpot?: boolean },
): Sort {
  const isDescending = text.startsWith('-')
  const by = COLUMNS.find(({ id }) => id === text.replace('-', ''))?.id
  if (by !== undefined) return { by, isDescending }
  if (words.length > 0 && text !== 'distance') return { by: 'match', isDescending: false }
  return { by: hasSpot ? 'distance' : 'name', isDescending: false }
}

export function writeSort({ by, isDescending }: Sort): string {
  return `${isDescending ? '-' : ''}${by}`
}

export function countByStatus(devices: Iterable<LiveDevice>): Record<ShownStatus, number> {
  const counts = { online: 0, idle: 0, offline: 0, disabled: 0 }
  for (const { status } of devices) counts[status] += 1
  return counts
}

/** Counts the devices with each label. */
export function countByLabel(devices: Iterable<LiveDevice>): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { labels } of devices) {
    for (const label of labels) counts.set(label, (counts.get(label) ?? 0) + 1)
  }
  return new Map([...counts].sort(([a], [b]) => byText.compare(a, b)))
}

const byText = new Intl.Collator(undefined, { numeric: true, sensitivity: 'variant' })

export function chooseDevices(
  devices: Iterable<LiveDevice>,
  { statuses, label, words, geofence = '', rule = '' }: DeviceFilter,
): LiveDevice[] {
  const chosen: LiveDevice[] = []
  for (const device of devices) {
    if (statuses.size > 0 && !statuses.has(device.status)) continue
    if (label !== '' && !device.labels.includes(label)) continue
    if (geofence !== '' && !device.inside.includes(geofence)) continue
    if (rule !== '' && !device.raised.includes(rule)) continue
    if (isFound(device.searchKey, words)) chosen.push(device)
  }
  return chosen
}

type DeviceOrder = Pick<DeviceColumn, 'compare' | 'isMissing'>

/**
 * Sorts in place: devices calling for help first, then pinned devices; devices without a value
 * last; in between by the sort. Ties are ordered by name (van 3 before van 25), then by id, so that
 * equal devices do not swap.
 */
export function sortDevices(
  devices: LiveDevice[],
  {
    sort,
    pinned,
    sos,
    words = [],
    near,
  }: {
    readonly sort: Sort
    readonly pinned: ReadonlySet<string>
    readonly sos?: ReadonlySet<string>
    readonly words?: readonly SearchKey[]
    readonly near?: Coordinates | undefined
  },
): LiveDevice[] {
  const rank = ({ deviceId }: LiveDevice) =>
    sos?.has(deviceId) === true ? -1 : pinned.has(deviceId) ? 0 : 1
  const { compare, isMissing = () => false }: DeviceOrder =
    COLUMNS.find(({ id }) => id === sort.by) ??
    (sort.by === 'distance' && near !== undefined ? orderByDistance(near) : orderByMatch(words))
  const turn = sort.isDescending ? -1 : 1
  return devices.sort(
    (a, b) =>
      rank(a) - rank(b) ||
      Number(isMissing(a)) - Number(isMissing(b)) ||
      turn * compare(a, b) ||
      byName.compare(labelOf(a), labelOf(b)) ||
      (a.deviceId < b.deviceId ? -1 : 1),
  )
}

function orderByDistance(near: Coordinates): DeviceOrder {
  const known = new Map<LiveDevice, number>()
  const metres = (device: LiveDevice) => {
    const distance = known.get(device) ?? metresBetween(near, device.position)
    known.set(device, distance)
    return distance
  }
  return { compare: (a, b) => metres(a) - metres(b) }
}

/** Exact matches first, then devices with more whole words; the rest in order of name. */
function orderByMatch(words: readonly SearchKey[]): DeviceOrder {
  const ranks = new Map<LiveDevice, number>()
  const searched = words.map(({ joined }) => joined).join('')
  const rank = (device: LiveDevice) => {
    const isExact = device.searchKey.joined.split('\n').includes(searched)
    const known = ranks.get(device) ?? -2 * wholeWords(device.searchKey, words) - Number(isExact)
    ranks.set(device, known)
    return known
  }
  return { compare: (a, b) => rank(a) - rank(b) }
}

/**
 * Keeps the previous order of devices and appends new ones, so that no row moves away from a
 * finger.
 */
export function keepOrder(devices: LiveDevice[], before: readonly LiveDevice[]): LiveDevice[] {
  const left = new Set(devices)
  const kept = before.filter((device) => left.delete(device))
  return [...kept, ...left]
}
