import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
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
  // The row reached by keys, also before it is rendered: the next key may come sooner.
  const goal = useRef<string | undefined>(undefined)
  const hasFocus = useRef(false)
  const isGoing = useRef(false)
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
  // Before the next key comes. A row that moves in the document loses the focus.
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

/** Moves the focus from the search into the list. */
export function focusList(): void {
  document.querySelector<HTMLElement>('.device-list [data-index="0"] button')?.focus()
}
