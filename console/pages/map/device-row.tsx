import { Pin } from 'lucide'
import { labelOf, type LiveDevice } from '../../core/live-device.ts'
import { now } from '../../ui/clock.ts'
import { Icon } from '../../ui/icon.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import { connectionText, motionText } from '../../core/device-words.ts'
import { batteryText } from '../../core/measures.ts'
import { StatusShape } from '../../ui/status-shape.tsx'

/** One device of the list: its name, its connection, whether it moves. */
export function DeviceRow({
  device,
  isSelected,
  isPinned,
  onSelect,
}: {
  device: LiveDevice
  isSelected: boolean
  isPinned: boolean
  onSelect: () => void
}) {
  const { deviceId, name, status, position } = device
  const details = [motionText(device, now.value), batteryText(position.battery)].filter(Boolean)
  return (
    <button
      type="button"
      class="device-row"
      aria-current={isSelected ? 'true' : undefined}
      onClick={onSelect}
    >
      <StatusShape status={status} />
      <span class="device-name">
        {isPinned && <Icon of={Pin} small />}
        <Isolated class="one-line">{labelOf(device)}</Isolated>
      </span>
      <span class="device-when note">{connectionText(device, now.value)}</span>
      <span class="device-id note">
        {name !== null && <Isolated class="one-line">{deviceId}</Isolated>}
      </span>
      <span class="device-how note">{details.join(' · ')}</span>
    </button>
  )
}
