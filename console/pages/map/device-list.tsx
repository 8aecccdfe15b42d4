import { useEffect, useRef, useState } from 'preact/hooks'
import { labelOf } from '../../core/live-device.ts'
import { Isolated } from '../../ui/isolated.tsx'
import { useKeys } from '../../ui/keys.tsx'
import { askStoppedSince } from './ask-stopped-since.ts'
import { selectAndShow } from './choose-device.ts'
import { DeviceRow } from './device-row.tsx'
import { columns, pinned, selectedDevice, selectedId } from './map-state.ts'
import { isMarking, marked, toggleMark } from './marked.ts'
import { useOrdered } from './use-ordered.ts'
import { useRowsInView } from './use-rows-in-view.ts'

const ROW_REM = 3.25
const PAGE_ROWS = 10

/** All chosen devices, but only those in view are in the document. */
export function DeviceList() {
  const scroller = useRef<HTMLUListElement>(null)
  const [reached, setReached] = useState<string>()
  const hasFocus = useRef(false)
  const { devices, hold } = useOrdered()
  const indexOf = (id: string | undefined) =>
    id === undefined ? -1 : devices.findIndex(({ deviceId }) => deviceId === id)
  const selected = selectedId.value
  // One row is a stop of the Tab key: the map after thousands of rows stays near.
  const stop = [reached, selected].map(indexOf).find((index) => index >= 0) ?? 0
  const { indexes, allPixels, rowPixels, show } = useRowsInView(scroller, {
    count: devices.length,
    rowRem: ROW_REM,
    also: stop,
  })
  // A device chosen on the map or in the address is in view.
  useEffect(() => {
    const index = indexOf(selected)
    if (index >= 0) show(index)
  }, [selected, devices.length > 0])
  useEffect(() => {
    const shown = indexes.flatMap((index) => devices[index] ?? [])
    askStoppedSince([selectedDevice() ?? [], shown].flat()).catch(() => undefined)
  })
  // A row that moves in the document loses the focus.
  useEffect(() => {
    if (hasFocus.current && document.activeElement === document.body && indexOf(reached) >= 0) {
      focusRow(scroller.current, stop)
    }
  })

  function go(label: string, by: number) {
    const run = () => {
      hold()
      const to = Math.min(devices.length - 1, Math.max(0, stop + by))
      show(to)
      focusRow(scroller.current, to)
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
          if (reached === undefined) return
          isMarking.value = true
          toggleMark(reached)
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
        setReached(row?.dataset['device'])
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

/** Moves the focus from the search into the list. */
export function focusList(): void {
  document.querySelector<HTMLElement>('.device-list [data-index="0"] button')?.focus()
}

/** A row scrolled into view is in the document only after the next frames. */
function focusRow(list: HTMLUListElement | null, index: number, tries = 5): void {
  const button = list?.querySelector<HTMLElement>(`[data-index="${index}"] button`)
  if (button) button.focus({ preventScroll: true })
  else if (tries > 0) requestAnimationFrame(() => focusRow(list, index, tries - 1))
}
