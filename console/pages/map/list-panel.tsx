import { useRef, useState } from 'preact/hooks'
import { ChevronUp } from 'lucide'
import { watchWords } from '../../live/announce-changes.ts'
import { fleet, lister, liveState } from '../../live/live.ts'
import { Icon } from '../../ui/icon.tsx'
import { isPhone } from '../../ui/phone.ts'
import { shownClock } from '../../ui/shown.ts'
import { Empty, Failed, FailedLine, Loading } from '../../ui/states.tsx'
import { DeviceList } from './device-list.tsx'
import { ListFilters } from './list-filters.tsx'
import { chosenDevices } from './map-state.ts'
import { MarkedBar } from './marked-bar.tsx'
import { SelectedCard } from './selected-card.tsx'
import { setQuery } from '../../ui/router.ts'
import { addressOf } from '../../core/address.ts'

const HEIGHTS = ['low', 'half', 'full'] as const

/** The map's content as a list; on a phone it is a sheet over the map, with three heights. */
export function ListPanel() {
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
      {/* On a phone the card is what the sheet has room for. */}
      {isPhone.value && <SelectedCard />}
      <ListFilters />
      <MarkedBar />
      {!isPhone.value && <SelectedCard />}
      {lister.failure.value !== undefined && fleet.devices.size > 0 && (
        <FailedLine failure={lister.failure.value} onRetry={lister.retry} />
      )}
      <Content />
    </section>
  )
}

function Content() {
  watchWords()
  if (fleet.devices.size === 0) {
    if (!lister.isListed.value) {
      const failure = lister.failure.value
      if (failure === undefined) return <Loading what="Loading devices" />
      return <Failed failure={failure} onRetry={lister.retry} />
    }
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

/** Whether the data shown is up to date. */
function LiveBar() {
  const state = liveState.value
  return (
    <p
      class={`live-bar note ${state.kind.replace(' ', '-')}`}
      role="status"
      aria-label="Connection"
    >
      <span class="live-dot" aria-hidden="true" />
      {state.kind === 'lost'
        ? `disconnected since ${shownClock(state.since, { hasSeconds: false })}, reconnecting`
        : state.kind}
    </p>
  )
}
