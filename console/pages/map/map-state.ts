import { computed, signal } from '@preact/signals'
import { me } from '../../live/session.ts'
import { fleet } from '../../live/live.ts'
import { searchWords } from '../../../schemas/device-search.ts'
import { choose, readSort, STATUSES, writeSort, type Sort } from '../../core/choose-devices.ts'
import type { LiveDevice, ShownStatus } from '../../core/live-device.ts'
import { kept } from '../../ui/preferences.ts'
import { place, setQuery } from '../../ui/router.ts'

/**
 * The operator's choices for the map, kept in the address so that it can be sent to somebody else.
 */

export const searchText = computed(() => place.value.query.get('q') ?? '')

export const statuses = computed<ReadonlySet<ShownStatus>>(() => {
  const named = (place.value.query.get('status') ?? '').split(',')
  return new Set(STATUSES.filter((status) => named.includes(status)))
})

/** The words that are searched for. */
export const words = computed(() => searchWords(searchText.value))

export const sort = computed<Sort>(() =>
  readSort(place.value.query.get('sort') ?? '', { words: words.value }),
)

export const selectedId = computed(() => place.value.query.get('device') ?? undefined)

export function search(text: string): void {
  setQuery({ q: text })
}

export function toggleStatus(status: ShownStatus): void {
  const next = new Set(statuses.value)
  if (!next.delete(status)) next.add(status)
  setQuery({ status: [...next].join(',') })
}

export function sortBy(next: Sort): void {
  const isUsual = writeSort(next) === writeSort(readSort('', { words: words.value }))
  setQuery({ sort: isUsual ? undefined : writeSort(next) })
}

export function select(deviceId: string | undefined): void {
  setQuery({ device: deviceId })
}

export function selectedDevice(): LiveDevice | undefined {
  const id = selectedId.value
  return id === undefined ? undefined : fleet.devices.get(id)
}

/** The devices of the list and the map, from the current fleet. */
export function choice(): readonly LiveDevice[] {
  const all = found()
  return statuses.value.size === 0 ? all : choose(all, { statuses: statuses.value, words: [] })
}

/** The devices that the search finds, of every status. */
export function found(): readonly LiveDevice[] {
  return choose(fleet.devices.values(), { statuses: new Set(), words: words.value })
}

/** How the list is ordered. */
export function order() {
  return { sort: sort.value, pinned: pinned.value, words: words.value }
}

/** Stored by account: several people may use one browser. */
const pinnedText = kept('pinned', '{}', (text) => text)
const accountId = computed(() => me.value?.account.id ?? '')

export const pinned = computed<ReadonlySet<string>>(() => {
  const ids = pinnedByAccount()[accountId.value]
  return new Set(Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : [])
})

export function togglePinned(deviceId: string): void {
  const next = new Set(pinned.value)
  if (!next.delete(deviceId)) next.add(deviceId)
  pinnedText.value = JSON.stringify({ ...pinnedByAccount(), [accountId.value]: [...next] })
}

function pinnedByAccount(): Readonly<Record<string, unknown>> {
  try {
    const known: unknown = JSON.parse(pinnedText.value)
    return typeof known === 'object' && known !== null ? { ...known } : {}
  } catch {
    return {}
  }
}

/** Several devices at one spot, which the map cannot separate. */
export const spot = signal<readonly LiveDevice[] | undefined>(undefined)
