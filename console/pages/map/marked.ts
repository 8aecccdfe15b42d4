import { signal } from '@preact/signals'
import type { LiveDevice } from '../../core/live-device.ts'
import { fleet } from '../../live/live.ts'
import { chosenDevices } from './map-state.ts'

/** Whether the list has boxes that select several devices. */
export const isMarking = signal(false)

/** The ids of the selected devices. */
export const marked = signal<ReadonlySet<string>>(new Set())

export function toggleMark(deviceId: string): void {
  const next = new Set(marked.value)
  if (!next.delete(deviceId)) next.add(deviceId)
  marked.value = next
}

/** Selects all devices of the list. */
export function markAll(): void {
  marked.value = new Set(chosenDevices().map(({ deviceId }) => deviceId))
}

export function endMarking(): void {
  isMarking.value = false
  marked.value = new Set()
}

/** The selected devices in the list, and the number of those that its filters hide. */
export function markedDevices(): { devices: readonly LiveDevice[]; hidden: number } {
  if (marked.value.size === 0) return { devices: [], hidden: 0 }
  const shown = new Set(chosenDevices())
  const existing = [...marked.value].flatMap((deviceId) => fleet.devices.get(deviceId) ?? [])
  const devices = existing.filter((device) => shown.has(device))
  return { devices, hidden: existing.length - devices.length }
}
