import { useEffect, useRef, useState } from 'preact/hooks'
import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
} from '@tanstack/virtual-core'
import { keepOrder, sortDevices } from '../../core/choose-devices.ts'
import type { LiveDevice } from '../../core/live-device.ts'
import { watchWords } from '../../live/announce-changes.ts'
import { DeviceRow } from './device-row.tsx'
import { choice, pinned, searchText, select, selectedId, sort, statuses } from './map-state.ts'

/** How often the order is updated; a row's text changes with the clock anyway. */
const REORDER_EVERY_MS = 1_000
const ROW_REM = 3.25

/** All chosen devices, but only those in view are in the document. */
export function DeviceList() {
  const scroller = useRef<HTMLUListElement>(null)
  const isHeld = useRef(false)
  const ordered = useOrdered(() => isHeld.current)
  const virtualizer = useVirtualizer(scroller, ordered.length)
  const rows = virtualizer.getVirtualItems()

  function move(event: KeyboardEvent) {
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }
    const step = steps[event.key]
    const row = event.target instanceof Element ? event.target.closest('li') : null
    if (row === null) return
    const here = Number(row.dataset['index'])
    const last = ordered.length - 1
    const to =
      event.key === 'Home'
        ? 0
        : event.key === 'End'
          ? last
          : step === undefined
            ? undefined
            : Math.min(last, Math.max(0, here + step))
    if (to === undefined) return
    event.preventDefault()
    virtualizer.scrollToIndex(to)
    focusRow(scroller.current, to)
  }

  return (
    <ul
      ref={scroller}
      class="device-list"
      role="list"
      aria-label="Devices"
      onKeyDown={move}
      onPointerEnter={() => (isHeld.current = true)}
      onPointerLeave={() => (isHeld.current = false)}
    >
      <li
        class="device-space"
        role="presentation"
        style={{ height: `${virtualizer.getTotalSize()}px` }}
      />
      {rows.map(({ index, start }) => {
        const device = ordered[index]
        if (device === undefined) return null
        return (
          <li
            key={device.deviceId}
            data-index={index}
            aria-setsize={ordered.length}
            aria-posinset={index + 1}
            style={{ transform: `translateY(${start}px)` }}
          >
            <DeviceRow
              device={device}
              isSelected={device.deviceId === selectedId.value}
              isPinned={pinned.value.has(device.deviceId)}
              onSelect={() => select(device.deviceId)}
            />
          </li>
        )
      })}
    </ul>
  )

  function useOrdered(held: () => boolean): readonly LiveDevice[] {
    const order = useRef<{ key: string; at: number; devices: LiveDevice[] }>(null)
    watchWords()
    const devices = [...choice()]
    const key = JSON.stringify([
      sort.value,
      searchText.value,
      [...statuses.value],
      [...pinned.value],
    ])
    const before = order.current
    const isDue = before === null || before.key !== key
    if (isDue || performance.now() - before.at > REORDER_EVERY_MS) {
      const isFocused = scroller.current?.contains(document.activeElement) === true
      const stands = !isDue && (held() || isFocused)
      const kept = before === null ? devices : keepOrder(devices, before.devices)
      order.current = {
        key,
        at: performance.now(),
        // Sorting a nearly sorted list takes a tenth of the comparisons.
        devices: stands ? kept : sortDevices(kept, { sort: sort.value, pinned: pinned.value }),
      }
    }
    return order.current?.devices ?? []
  }
}

/** A row scrolled into view is in the document only after the next frames. */
function focusRow(list: HTMLUListElement | null, index: number, tries = 5): void {
  const button = list?.querySelector<HTMLElement>(`[data-index="${index}"] button`)
  if (button) button.focus()
  else if (tries > 0) requestAnimationFrame(() => focusRow(list, index, tries - 1))
}

function useVirtualizer(scroller: { current: HTMLUListElement | null }, count: number) {
  const [, redraw] = useState(0)
  const rowPixels = ROW_REM * parseFloat(getComputedStyle(document.documentElement).fontSize)
  const options = {
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowPixels,
    overscan: 6,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => redraw((times) => times + 1),
  }
  const [virtualizer] = useState(() => new Virtualizer<HTMLUListElement, HTMLLIElement>(options))
  virtualizer.setOptions(options)
  useEffect(() => virtualizer._didMount(), [virtualizer])
  useEffect(() => virtualizer._willUpdate())
  return virtualizer
}
