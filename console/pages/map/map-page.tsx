import './device-list.css'
import './map-page.css'
import { useEffect } from 'preact/hooks'
import { startLive } from '../../live/live.ts'
import { labelOf } from '../../core/live-device.ts'
import { FleetMap, following, selectAndShow } from './fleet-map.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { useKeys } from '../../ui/keys.tsx'
import { arriveAt, useTitle } from '../../ui/page.tsx'
import { shownCount } from '../../ui/shown.ts'
import { DeviceRow } from './device-list.tsx'
import { ListPanel } from './list-panel.tsx'
import {
  usePaintedGeofences,
  chosenDevices,
  columns,
  pinned,
  select,
  selectedDevice,
  selectedId,
  spot,
} from './map-state.ts'

/** The current positions of all devices: a map, and next to it a list of the same devices. */
export function MapPage() {
  useTitle('Map')
  useEffect(startLive, [])
  useKeys({
    '/': { label: 'Search', run: () => focus('[data-search]') },
    f: {
      label: 'Start or stop following the selected device',
      run: () => (following.value = !following.value && selectedDevice() !== undefined),
    },
    '0': {
      label: 'Fit all devices',
      run: () => document.querySelector<HTMLElement>('[data-fit-all]')?.click(),
    },
    Escape: { label: 'Deselect', run: () => select(undefined) },
  })
  return (
    <div class="map-page">
      <h1 ref={arriveAt} class="unseen" tabIndex={-1}>
        Map
      </h1>
      <ListPanel />
      <FleetMap
        geofences={usePaintedGeofences()}
        devices={shownDevices}
        selected={selectedDevice}
        onSelect={({ deviceId }) => select(deviceId)}
        onSpot={(devices) => (spot.value = devices)}
        onEnter={() => focus('.selected-card a')}
      />
      <SpotDialog />
    </div>
  )
}

/** The selected device is on the map even if the filters exclude it. */
function shownDevices() {
  const selected = selectedDevice()
  const devices = chosenDevices()
  return selected === undefined || devices.includes(selected) ? devices : [...devices, selected]
}

function SpotDialog() {
  if (spot.value === undefined) return null
  const close = () => (spot.value = undefined)
  const devices = [...spot.value].sort((a, b) => (labelOf(a) < labelOf(b) ? -1 : 1))
  return (
    <Dialog title={`${shownCount(devices.length, 'device')} at this place`} onClose={close}>
      <ul class="box">
        {devices.map((device) => (
          <li key={device.deviceId}>
            <DeviceRow
              device={device}
              isSelected={device.deviceId === selectedId.value}
              isPinned={pinned.value.has(device.deviceId)}
              columns={columns.value}
              onSelect={() => {
                selectAndShow(device)
                close()
              }}
            />
          </li>
        ))}
      </ul>
    </Dialog>
  )
}

function focus(selector: string): void {
  document.querySelector<HTMLElement>(selector)?.focus()
}
