import { computed, signal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { openSos } from '../../live/alarms.ts'
import { me } from '../../live/session.ts'
import { searchWords } from '../../../schemas/devices/device-search.ts'
import {
  chooseDevices,
  readSort,
  STATUSES,
  writeSort,
  type Sort,
} from '../../core/choose-devices.ts'
import { COLUMNS, type ColumnId } from '../../core/device-columns.ts'
import type { LiveDevice, ShownStatus } from '../../core/live-device.ts'
import { toMercator } from '../../../schemas/geo/mercator.ts'
import type { PaintedGeofence } from '../../map/geofence-painter.ts'
import { createPreference } from '../../ui/preferences.ts'
import { pageAddress, setQuery } from '../../ui/router.ts'
import { pin } from './pin.ts'
import { toPaintedGeofence, useGeofences, type ApiGeofence } from '../geofences/use-definitions.ts'
import { pastAt, shownFleet, shownSos } from './shown-fleet.ts'

/** The operator's choices for the map, stored in the address so that they can be shared. */

export const searchText = computed(() => pageAddress.value.query.get('q') ?? '')

export const statuses = computed<ReadonlySet<ShownStatus>>(() => {
  const named = (pageAddress.value.query.get('status') ?? '').split(',')
  return new Set(STATUSES.filter((status) => named.includes(status)))
})

/** The words of the search. */
export const searchedWords = computed(() => searchWords(searchText.value))

/** The label to filter the list by; empty if there is no filter. */
export const chosenLabel = computed(() => pageAddress.value.query.get('label') ?? '')

/**
 * The geofence and the raised rule to filter the list by; empty if there is no filter.
 */
export const chosenGeofence = computed(() => pageAddress.value.query.get('geofence') ?? '')
export const chosenRule = computed(() => pageAddress.value.query.get('rule') ?? '')

/** Whether the map shows geofences. */
export const showsGeofences = createPreference('geofences', 'off', (text) =>
  text === 'on' ? 'on' : 'off',
)

export const sort = computed<Sort>(() =>
  readSort(pageAddress.value.query.get('sort') ?? '', {
    words: searchedWords.value,
    hasSpot: pin.value !== undefined,
  }),
)

export const selectedId = computed(() => pageAddress.value.query.get('device') ?? undefined)

export function search(text: string): void {
  setQuery({ q: text })
}

export function toggleStatus(status: ShownStatus): void {
  const next = new Set(statuses.value)
  if (!next.delete(status)) next.add(status)
  setQuery({ status: [...next].join(',') })
}

/** The facts that the list shows about each device besides its name. */
export const columns = computed<readonly ColumnId[]>(() => {
  const named = pageAddress.value.query.get('columns')
  if (named === null) return USUAL_COLUMNS
  const ids = named.split(',')
  return COLUMNS.flatMap(({ id }) => (ids.includes(id) ? id : []))
})

const USUAL_COLUMNS: readonly ColumnId[] = ['motion']

export function toggleColumn(column: ColumnId): void {
  const { value } = columns
  const next = value.includes(column) ? value.filter((id) => id !== column) : [...value, column]
  const isUsual =
    next.length === USUAL_COLUMNS.length && USUAL_COLUMNS.every((id) => next.includes(id))
  // An empty parameter would be omitted from the address.
  setQuery({ columns: isUsual ? undefined : next.join(',') || 'none' })
}

export function filterByLabel(next: string): void {
  setQuery({ label: next })
}

export function sortBy(next: Sort): void {
  const usual = readSort('', { words: searchedWords.value, hasSpot: pin.value !== undefined })
  const isUsual = writeSort(next) === writeSort(usual)
  setQuery({ sort: isUsual ? undefined : writeSort(next) })
}

export function select(deviceId: string | undefined): void {
  setQuery({ device: deviceId, alarm: undefined })
}

export function selectedDevice(): LiveDevice | undefined {
  const id = selectedId.value
  return id === undefined ? undefined : shownFleet().devices.get(id)
}

/** The devices of the list and the map, from the shown fleet. */
export function chosenDevices(): readonly LiveDevice[] {
  const all = foundDevices()
  if (statuses.value.size === 0) return all
  return chooseDevices(all, { statuses: statuses.value, label: '', words: [] })
}

/** The devices of the search and the label, of every status. */
export function foundDevices(): readonly LiveDevice[] {
  return chooseDevices(shownFleet().devices.values(), {
    statuses: new Set(),
    label: chosenLabel.value,
    words: searchedWords.value,
    geofence: chosenGeofence.value,
    // Raised rules of the past are unknown.
    rule: pastAt.value === undefined ? chosenRule.value : '',
  })
}

/** The order of the list. */
export function listOrder() {
  return {
    sort: sort.value,
    pinned: pinned.value,
    sos: shownSos.value,
    words: searchedWords.value,
    near: pin.value,
  }
}

/** The call for help named in the address. */
export const alarmId = computed(() => pageAddress.value.query.get('alarm'))

/** The place where the selected device called for help, if the address names that call. */
export const alarmAt = computed(() => {
  const fact = openSos.value.find(({ id }) => id === alarmId.value)
  if (fact?.deviceId !== selectedId.value) return undefined
  return fact?.position && toMercator(fact.position.longitude, fact.position.latitude)
})

/** Stored by account: several people may use one browser. */
const pinnedText = createPreference('pinned', '{}', (text) => text)
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

/** Several devices at one place, which the map cannot separate. */
export const spot = signal<readonly LiveDevice[] | undefined>(undefined)

/** Whether the list has boxes for selecting several devices. */
export const isMarking = signal(false)

/** The ids of the selected devices. */
export const marked = signal<ReadonlySet<string>>(new Set())

export function toggleMark(deviceId: string): void {
  const next = new Set(marked.value)
  if (!next.delete(deviceId)) next.add(deviceId)
  marked.value = next
}

/** Selects all devices of the list. */
export function markAll(): void {
  marked.value = new Set(chosenDevices().map(({ deviceId }) => deviceId))
}

export function endMarking(): void {
  isMarking.value = false
  marked.value = new Set()
}

/** The selected devices in the list, and the number of selected devices hidden by its filters. */
export function markedDevices(): { devices: readonly LiveDevice[]; hidden: number } {
  if (marked.value.size === 0) return { devices: [], hidden: 0 }
  const shown = new Set(chosenDevices())
  const existing = [...marked.value].flatMap((deviceId) => shownFleet().devices.get(deviceId) ?? [])
  const devices = existing.filter((device) => shown.has(device))
  return { devices, hidden: existing.length - devices.length }
}

/** The account's geofences, for the list's filter. */
export const mapGeofences = signal<readonly ApiGeofence[]>([])

/** The names of the account's rules, by id. */
export const ruleNames = signal<ReadonlyMap<string, string>>(new Map())

/** The geofences on the map: all if the operator wants them, otherwise the one used as a filter. */
export function usePaintedGeofences(): readonly PaintedGeofence[] {
  const { data } = useGeofences()
  useEffect(() => {
    if (data !== undefined) mapGeofences.value = data
  }, [data])
  const isShown = showsGeofences.value === 'on'
  const only = chosenGeofence.value
  return useMemo(
    () => (data ?? []).filter(({ id }) => isShown || id === only).map(toPaintedGeofence),
    [data, isShown, only],
  )
}
