import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Pin } from 'lucide'
import { metresBetween } from '../../../schemas/geo/distance.ts'
import { COLUMNS, type ColumnId } from '../../core/device-columns.ts'
import { labelOf, type LiveDevice } from '../../core/live-device.ts'
import { listExceptions } from '../../core/device-words.ts'
import { ago } from '../../core/times.ts'
import { StatusShape } from '../../ui/device-parts.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import { useKeys } from '../../ui/keys.tsx'
import { formatDistance, readerUnits } from '../../ui/shown.ts'
import { askPlaces, placeName } from './device-places.ts'
import { askStoppedSince } from './ask-stopped-since.ts'
import { selectAndShow } from './fleet-map.tsx'
import { shownNow, shownSos } from './shown-fleet.ts'
import {
  columns,
  isMarking,
  marked,
  pinned,
  ruleNames,
  selectedDevice,
  selectedId,
  toggleMark,
} from './map-state.ts'
import { pin } from './pin.ts'
import { useOrdered, useRowsInView } from './use-rows.ts'

const ROW_REM = 3.25
const PAGE_ROWS = 10

/** All selected devices, but only rows in view are in the document. */
export function DeviceList() {
  const scroller = useRef<HTMLUListElement>(null)
  const [reached, setReached] = useState<string>()
  // The row reached by keys, even before it is rendered: the next key may arrive sooner.
  const goal = useRef<string | undefined>(undefined)
  const hasFocus = useRef(false)
  const isGoing = useRef(false)
  const { devices, hold } = useOrdered()
  const indexOf = (id: string | undefined) =>
    id === undefined ? -1 : devices.findIndex(({ deviceId }) => deviceId === id)
  const selected = selectedId.value
  // Only one row is a tab stop, so that the map stays within reach.
  const stop = [reached, selected].map(indexOf).find((index) => index >= 0) ?? 0
  const { indexes, allPixels, rowPixels, show } = useRowsInView(scroller, {
    count: devices.length,
    rowRem: ROW_REM,
    also: stop,
    chosen: indexOf(selected),
  })
  // A device selected on the map or in the address is in view.
  useEffect(() => {
    const index = indexOf(selected)
    if (index >= 0) show(index)
  }, [selected, devices.length > 0])
  useEffect(() => {
    const shown = indexes.flatMap((index) => devices[index] ?? [])
    const inWords = [selectedDevice() ?? [], shown].flat()
    askStoppedSince(inWords).catch(() => undefined)
    askPlaces(inWords)
  })
  // Runs before the next key arrives. A row that moves in the document loses the focus.
  useLayoutEffect(() => {
    const isLost = hasFocus.current && document.activeElement === document.body
    if ((isGoing.current || isLost) && indexOf(reached) >= 0) {
      isGoing.current = false
      const row = scroller.current?.querySelector<HTMLElement>(`[data-index="${stop}"] button`)
      row?.focus({ preventScroll: true })
    }
  })

  function reach(deviceId: string | undefined) {
    goal.current = deviceId
    setReached(deviceId)
  }

  function go(label: string, by: number) {
    const run = () => {
      hold()
      const at = indexOf(goal.current)
      const to = Math.min(devices.length - 1, Math.max(0, (at < 0 ? stop : at) + by))
      show(to)
      isGoing.current = true
      reach(devices[to]?.deviceId)
    }
    return { label, run }
  }
  useKeys(
    {
      ArrowUp: go('Previous or next device', -1),
      ArrowDown: go('Previous or next device', 1),
      PageUp: go('Ten devices up or down', -PAGE_ROWS),
      PageDown: go('Ten devices up or down', PAGE_ROWS),
      Home: go('First or last device', -Infinity),
      End: go('First or last device', Infinity),
      ' ': {
        label: 'Select or deselect for actions on several devices',
        run: () => {
          if (goal.current === undefined) return
          isMarking.value = true
          toggleMark(goal.current)
        },
      },
    },
    { title: 'In the list', element: scroller },
  )

  return (
    <ul
      ref={scroller}
      class="device-list"
      role="list"
      aria-label="Devices"
      onPointerMove={hold}
      onPointerDown={hold}
      onScroll={hold}
      onFocusIn={({ target }) => {
        hold()
        const row = target instanceof Element ? target.closest<HTMLElement>('li') : null
        hasFocus.current = row !== null
        reach(row?.dataset['device'])
      }}
      onFocusOut={({ relatedTarget }) => {
        if (relatedTarget !== null) hasFocus.current = false
      }}
    >
      <li class="device-space" role="presentation" style={{ height: `${allPixels}px` }} />
      {indexes.map((index) => {
        const device = devices[index]
        if (device === undefined) return null
        const { deviceId } = device
        const tabIndex = index === stop ? 0 : -1
        return (
          <li
            key={deviceId}
            data-index={index}
            data-device={deviceId}
            aria-setsize={devices.length}
            aria-posinset={index + 1}
            style={{ transform: `translateY(${index * rowPixels}px)` }}
          >
            {isMarking.value && (
              <label class="mark">
                <input
                  type="checkbox"
                  tabIndex={tabIndex}
                  checked={marked.value.has(deviceId)}
                  onChange={() => toggleMark(deviceId)}
                />
                <span class="unseen">
                  Select <Isolated>{labelOf(device)}</Isolated>
                </span>
              </label>
            )}
            <DeviceRow
              device={device}
              isSelected={deviceId === selected}
              isPinned={pinned.value.has(deviceId)}
              columns={columns.value}
              tabIndex={tabIndex}
              onSelect={() => selectAndShow(device)}
            />
          </li>
        )
      })}
    </ul>
  )
}

/** Moves the focus from the search into the list, or to the found places if no device matches. */
export function focusList(): void {
  const first = '.device-list [data-index="0"] button'
  const found = document.querySelector(first) ?? document.querySelector('.found-places button')
  if (found instanceof HTMLElement) found.focus()
}

/** One device of the list: its name, the age of its newest report, and a sentence. */
export function DeviceRow({
  device,
  isSelected,
  isPinned,
  columns,
  tabIndex,
  onSelect,
}: {
  device: LiveDevice
  isSelected: boolean
  isPinned: boolean
  columns: readonly ColumnId[]
  tabIndex?: number
  onSelect: () => void
}) {
  const { status, lastSeenMs } = device
  const context = { now: shownNow.value, units: readerUnits() }
  const exceptions = listExceptions(device, ruleNames.value).join(' · ')
  const near = pin.value
  const away = near && `${formatDistance(metresBetween(near, device.position))} away`
  const shown = COLUMNS.flatMap((column) => {
    if (!columns.includes(column.id)) return []
    const place = column.id === 'motion' ? placeName(device) : undefined
    return [column.text(device, context) ?? [], place ?? []].flat()
  })
  const facts = [away ?? [], shown].flat().join(' · ')
  return (
    <button
      type="button"
      class="device-row"
      tabIndex={tabIndex}
      aria-current={isSelected ? 'true' : undefined}
      onClick={onSelect}
    >
      <StatusShape status={status} />
      <span class="device-name">
        {isPinned && <Icon of={Pin} small />}
        <Isolated class="one-line">{labelOf(device)}</Isolated>
      </span>{' '}
      {status === 'online' && <span class="unseen">Online </span>}
      <span class="device-age">{ago(lastSeenMs, shownNow.value)}</span>{' '}
      <span class="device-sentence one-line">
        {shownSos.value.has(device.deviceId) && (
          <span class="exception sos-word">SOS{exceptions + facts !== '' && ' · '}</span>
        )}
        {exceptions !== '' && (
          <span class="exception">
            <Isolated>{exceptions}</Isolated>
          </span>
        )}
        {exceptions !== '' && facts !== '' && ' · '}
        <Isolated>{facts}</Isolated>
      </span>
    </button>
  )
}
