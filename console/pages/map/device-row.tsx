import { Pin } from 'lucide'
import { labelOf, type LiveDevice } from '../../core/live-device.ts'
import { now } from '../../ui/clock.ts'
import { Icon } from '../../ui/icon.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import { batteryText, speedText } from '../../core/measures.ts'
import { StatusShape } from '../../ui/status-shape.tsx'
import { ago } from '../../core/times.ts'

/** One device of the list: its name, its status, its last report, its speed. */
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
  const { deviceId, name, status, lastSeenMs, position } = device
  const details = [speedText(position.speed), batteryText(position.battery)].filter(Boolean)
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
      <span class="device-when note">
        {status}, {ago(lastSeenMs, now.value)}
      </span>
      <span class="device-id note">
        {name !== null && <Isolated class="one-line">{deviceId}</Isolated>}
      </span>
      <span class="device-how note">{details.join(' · ')}</span>
    </button>
  )
}
