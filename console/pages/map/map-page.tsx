import { ChevronUp } from 'lucide'
import './device-list.css'
import './map-page.css'
import { useEffect, useRef, useState } from 'preact/hooks'
import { addressOf } from '../../core/address.ts'
import { startLive, liveState } from '../../live/live.ts'
import { labelOf } from '../../core/live-device.ts'
import { watchWords } from '../../live/announce-changes.ts'
import { FleetMap, following, selectAndShow } from './fleet-map.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Icon } from '../../ui/icon.tsx'
import { useKeys } from '../../ui/keys.tsx'
import { arriveAt, useTitle } from '../../ui/page.tsx'
import { isPhone } from '../../ui/phone.ts'
import { setQuery } from '../../ui/router.ts'
import { formatMoment, formatCount, formatClock } from '../../ui/shown.ts'
import { Empty, Failed, FailedLine, Loading } from '../../ui/states.tsx'
import { DeviceRow, DeviceList } from './device-list.tsx'
import { ListFilters } from './list-filters.tsx'
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
import { MarkedBar } from './marked-bar.tsx'
import { MomentBar } from './moment-bar.tsx'
import { FoundPlaces } from './found-places.tsx'
import { removePin } from './pin.ts'
import { PinCard } from './pin-card.tsx'
import { SelectedCard } from './selected-card.tsx'
import { pastAt, shownFleet, useShownFleet } from './shown-fleet.ts'

type ShownState = ReturnType<typeof useShownFleet>

/** The current positions of all devices: a map, and next to it a list of the same devices. */
export function MapPage() {
  useTitle('Map')
  useEffect(startLive, [])
  const state = useShownFleet()
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
    Escape: {
      label: 'Deselect',
      run: () => (selectedId.value === undefined ? removePin() : select(undefined)),
    },
  })
  return (
    <div class="map-page">
      <h1 ref={arriveAt} class="unseen" tabIndex={-1}>
        Map
      </h1>
      <ListPanel state={state} />
      <div class="map-side">
        <FleetMap
          geofences={usePaintedGeofences()}
          devices={shownDevices}
          isRead={state.isRead}
          selected={selectedDevice}
          onSelect={({ deviceId }) => select(deviceId)}
          onSpot={(devices) => (spot.value = devices)}
          onEnter={() => focus('.selected-card a')}
        />
        <MomentBar />
      </div>
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
    <Dialog title={`${formatCount(devices.length, 'device')} at this place`} onClose={close}>
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

const HEIGHTS = ['low', 'half', 'full'] as const

/** The map's content as a list; on a phone it is a sheet over the map, with three heights. */
function ListPanel({ state }: { state: ShownState }) {
  const [height, setHeight] = useState<(typeof HEIGHTS)[number]>('half')
  watchWords()
  const drag = useRef<{ from: number; at: (typeof HEIGHTS)[number] }>(null)

  function step(by: number) {
    const to = HEIGHTS.indexOf(height) + by
    setHeight(HEIGHTS[Math.max(0, Math.min(HEIGHTS.length - 1, to))] ?? 'half')
  }

  return (
    <section class="list-panel" data-height={height} aria-label="Devices and filters">
      <button
        type="button"
        class="sheet-handle"
        aria-label={height === 'full' ? 'Shrink the list' : 'Expand the list'}
        onClick={() => (height === 'full' ? setHeight('low') : step(1))}
        onPointerDown={({ clientY }) => (drag.current = { from: clientY, at: height })}
        onPointerUp={({ clientY }) => {
          const moved = (drag.current?.from ?? clientY) - clientY
          drag.current = null
          if (Math.abs(moved) > 24) step(moved > 0 ? 1 : -1)
        }}
      >
        <Icon of={ChevronUp} small />
      </button>
      <LiveBar />
      {/* On a phone the sheet has room only for the device. */}
      {isPhone.value && selectedId.value !== undefined ? (
        <SelectedCard />
      ) : (
        <>
          <ListFilters />
          <MarkedBar />
          <PinCard />
          <SelectedCard />
          {state.failure !== undefined && shownFleet().devices.size > 0 && (
            <FailedLine failure={state.failure} onRetry={state.retry} />
          )}
          {chosenDevices().length === 0 && <FoundPlaces areAlone />}
          <Content state={state} />
          {chosenDevices().length > 0 && <FoundPlaces areAlone={false} />}
        </>
      )}
    </section>
  )
}

function Content({ state: { isRead, failure, retry } }: { state: ShownState }) {
  watchWords()
  if (shownFleet().devices.size === 0) {
    if (!isRead) {
      if (failure === undefined) return <Loading what="Loading devices" />
      return <Failed failure={failure} onRetry={retry} />
    }
    if (pastAt.value !== undefined) return <Empty title="No device had reported yet" />
    return (
      <Empty title="No device has reported yet">
        <p>Create an API key, put it into a device or an app, and see it appear here.</p>
        <a class="button primary" href={addressOf('/connect')}>
          Connect a device
        </a>
      </Empty>
    )
  }
  if (chosenDevices().length > 0) return <DeviceList />
  return (
    <Empty title="No device matches">
      <p>Try fewer words or filters.</p>
      <button
        type="button"
        onClick={() =>
          setQuery({
            q: undefined,
            status: undefined,
            label: undefined,
            geofence: undefined,
            rule: undefined,
          })
        }
      >
        Show all
      </button>
    </Empty>
  )
}

/** Whether the displayed data is up to date. */
function LiveBar() {
  const state = liveState.value
  if (pastAt.value !== undefined) {
    return (
      <p class="live-bar note past" role="status" aria-label="Connection">
        As of {formatMoment(pastAt.value)}
      </p>
    )
  }
  return (
    <p
      class={`live-bar note ${state.kind.replace(' ', '-')}`}
      role="status"
      aria-label="Connection"
    >
      <span class="live-dot" aria-hidden="true" />
      {state.kind === 'lost'
        ? `disconnected since ${formatClock(state.since, { hasSeconds: false })}, reconnecting`
        : state.kind}
    </p>
  )
}
