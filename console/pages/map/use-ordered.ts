import { useRef } from 'preact/hooks'
import { keepOrder, sortDevices } from '../../core/choose-devices.ts'
import type { LiveDevice } from '../../core/live-device.ts'
import { watchWords } from '../../live/announce-changes.ts'
import { chosenDevices, chosenLabel, order, searchText, statuses } from './map-state.ts'

/** How often the order is updated; a row's text changes with the clock anyway. */
const REORDER_EVERY_MS = 1_000
/** For this time after the last movement of a finger, pointer or key nothing moves away from it. */
const HELD_MS = 2_000

/**
 * The devices of the list in their order. `hold` keeps it for two seconds: rows stay where they are
 * while somebody is about to choose one.
 */
export function useOrdered(): { devices: readonly LiveDevice[]; hold: () => void } {
  const kept = useRef<{ key: string; at: number; devices: LiveDevice[] }>(null)
  const heldAt = useRef(-Infinity)
  watchWords()
  const devices = [...chosenDevices()]
  const { sort, pinned } = order()
  const key = JSON.stringify([
    sort,
    searchText.value,
    chosenLabel.value,
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
      devices: isHeld ? known : sortDevices(known, order()),
    }
  }
  return {
    devices: kept.current?.devices ?? [],
    hold: () => {
      heldAt.current = performance.now()
    },
  }
}
