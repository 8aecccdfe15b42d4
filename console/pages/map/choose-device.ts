import { sortDevices } from '../../core/choose-devices.ts'
import type { LiveDevice } from '../../core/live-device.ts'
import { showOnMap } from './fleet-map.tsx'
import { chosenDevices, order, select } from './map-state.ts'

/** Selects a device elsewhere than on the map, which then shows it. */
export function selectAndShow(device: LiveDevice): void {
  select(device.deviceId)
  showOnMap(device)
}

/** Selects what fits the search best. */
export function selectFirst(): void {
  const [first] = sortDevices([...chosenDevices()], order())
  if (first !== undefined) selectAndShow(first)
}
