import { useEffect, useState, useRef } from 'preact/hooks'
import { keepOrder, sortDevices } from '../../core/choose-devices.ts'
import type { LiveDevice } from '../../core/live-device.ts'
import { watchWords } from '../../live/announce-changes.ts'
import {
  chosenDevices,
  chosenGeofence,
  chosenLabel,
  chosenRule,
  listOrder,
  searchText,
  statuses,
} from './map-state.ts'

type RowsInView = {
  /** The indexes of the rows that must be in the document. */
  readonly indexes: readonly number[]
  /** The height of a row, and of all of them, in pixels. */
  readonly rowPixels: number
  readonly allPixels: number
  /** Scrolls no farther than needed. */
  readonly show: (index: number) => void
}

/** Rows beyond the edges, so that scrolling does not show gaps. */
const SPARE = 8

/**
 * The rows in view, out of many rows of one height.
 *
 * @param also a row that remains in the document, in view or not, because Tab goes to it.
 * @param chosen a row that stays in view when the list gets shorter; -1 for none.
 */
export function useRowsInView(
  scroller: { readonly current: HTMLElement | null },
  {
    count,
    rowRem,
    also,
    chosen,
  }: {
    readonly count: number
    readonly rowRem: number
    readonly also: number
    readonly chosen: number
  },
): RowsInView {
  const [{ top, height }, setView] = useState({ top: 0, height: 0 })
  const rem = parseFloat(getComputedStyle(document.documentElement).fontSize)
  const rowPixels = rowRem * rem
  const keepChosen = useRef<(element: HTMLElement) => void>(() => undefined)
  keepChosen.current = ({ scrollTop }) => {
    const [above, below] = [chosen * rowPixels, (chosen + 1) * rowPixels]
    const wasInView = above < scrollTop + height && below > scrollTop
    if (chosen >= 0 && wasInView) show(chosen)
  }
  useEffect(() => {
    const element = scroller.current
    if (element === null) return undefined
    const look = () => setView({ top: element.scrollTop, height: element.clientHeight })
    look()
    element.addEventListener('scroll', look, { passive: true })
    const resized = new ResizeObserver(() => {
      keepChosen.current(element)
      look()
    })
    resized.observe(element)
    return () => {
      element.removeEventListener('scroll', look)
      resized.disconnect()
    }
  }, [scroller])

  const first = Math.max(0, Math.floor(top / rowPixels) - SPARE)
  const last = Math.min(count - 1, Math.ceil((top + height) / rowPixels) + SPARE)
  const indexes = Array.from({ length: Math.max(0, last - first + 1) }, (_, step) => first + step)
  if (also >= 0 && also < count && (also < first || also > last)) indexes.push(also)
  return {
    indexes,
    rowPixels,
    allPixels: rowPixels * count,
    show,
  }

  function show(index: number): void {
    const element = scroller.current
    if (element === null) return
    const above = index * rowPixels
    const below = above + rowPixels - element.clientHeight
    element.scrollTop = Math.min(above, Math.max(below, element.scrollTop))
  }
}

/** How often the order is updated; a row's text changes with the clock anyway. */
const REORDER_EVERY_MS = 1_000
/** The order remains fixed for this long after the last movement of a finger, pointer or key. */
const HELD_MS = 2_000

/**
 * The devices of the list in order. `hold` freezes the order for two seconds: rows stay where they
 * are while somebody is about to select one.
 */
export function useOrdered(): { devices: readonly LiveDevice[]; hold: () => void } {
  const kept = useRef<{ key: string; at: number; devices: LiveDevice[] }>(null)
  const heldAt = useRef(-Infinity)
  watchWords()
  const devices = [...chosenDevices()]
  const { sort, pinned, near } = listOrder()
  const key = JSON.stringify([
    sort,
    near,
    searchText.value,
    chosenLabel.value,
    chosenGeofence.value,
    chosenRule.value,
    [...statuses.value],
    [...pinned],
  ])
  const before = kept.current
  const now = performance.now()
  const isOther = before === null || before.key !== key
  if (isOther || now - before.at > REORDER_EVERY_MS) {
    const isHeld = !isOther && now - heldAt.current < HELD_MS
    const known = before === null ? devices : keepOrder(devices, before.devices)
    kept.current = {
      key,
      at: now,
      // Sorting a nearly sorted list takes a tenth of the comparisons.
      devices: isHeld ? known : sortDevices(known, listOrder()),
    }
  }
  return {
    devices: kept.current?.devices ?? [],
    hold: () => {
      heldAt.current = performance.now()
    },
  }
}
