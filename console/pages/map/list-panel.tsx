import { useRef, useState } from 'preact/hooks'
import { ChevronUp, Search } from 'lucide'
import { countByStatus, STATUSES } from '../../core/choose-devices.ts'
import { watchWords } from '../../live/announce-changes.ts'
import { fleet, lister } from '../../live/live.ts'
import { STATUS_WORDS } from '../../core/device-words.ts'
import { MOST_DEVICES } from '../../core/fleet.ts'
import { Icon } from '../../ui/icon.tsx'
import { useKeys } from '../../ui/keys.tsx'
import { shownCount } from '../../ui/shown.ts'
import { Empty, Failed, FailedLine, Loading } from '../../ui/states.tsx'
import { StatusShape } from '../../ui/device-parts.tsx'
import { selectFirst } from './choose-device.ts'
import { DeviceList, focusList } from './device-list.tsx'
import { LabelFilter } from './label-filter.tsx'
import { ListMenu } from './list-menu.tsx'
import { LiveBar } from './live-bar.tsx'
import { chosenDevices, found, search, searchText, statuses, toggleStatus } from './map-state.ts'
import { SortChoice } from './sort-choice.tsx'
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
      <Filters />
      <MarkedBar />
      <SelectedCard />
      {lister.failure.value !== undefined && fleet.devices.size > 0 && (
        <FailedLine failure={lister.failure.value} onRetry={lister.retry} />
      )}
      <Content />
    </section>
  )
}

function Filters() {
  watchWords()
  const input = useRef<HTMLInputElement>(null)
  useKeys(
    {
      ArrowDown: { label: 'Go to the list', run: focusList },
      Enter: { label: 'Select the best match', run: selectFirst },
    },
    { title: 'In the search', element: input },
  )
  const counts = countByStatus(found())
  return (
    <div class="list-filters stack near">
      <div class="search">
        <Icon of={Search} small />
        <input
          ref={input}
          type="search"
          aria-label="Search by name and id"
          placeholder="Name or id"
          autoComplete="off"
          spellcheck={false}
          value={searchText.value}
          onInput={({ currentTarget }) => search(currentTarget.value)}
          data-search
        />
        <ListMenu />
      </div>
      <div class="list-order">
        <LabelFilter />
        <SortChoice />
      </div>
      <div class="status-filters" role="group" aria-label="Show only">
        {STATUSES.filter((one) => one !== 'disabled' || counts.disabled > 0).map((status) => (
          <button
            key={status}
            type="button"
            aria-pressed={statuses.value.has(status)}
            onClick={() => toggleStatus(status)}
          >
            <StatusShape status={status} />
            <span class="number">{counts[status]}</span>{' '}
            <span class="word note">{STATUS_WORDS[status]}</span>
          </button>
        ))}
      </div>
      {lister.isCut.value && (
        <p class="notice row">The latest {shownCount(MOST_DEVICES, 'device')} are shown.</p>
      )}
    </div>
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
        onClick={() => setQuery({ q: undefined, status: undefined, label: undefined })}
      >
        Show all
      </button>
    </Empty>
  )
}
