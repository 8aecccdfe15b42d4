import { Pin } from 'lucide'
import { labelOf, type LiveDevice } from '../../core/live-device.ts'
import { now } from '../../ui/clock.ts'
import { Icon } from '../../ui/icon.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import { COLUMNS, type ColumnId } from '../../core/device-columns.ts'
import { shownUnits } from '../../ui/shown.ts'
import { StatusShape } from '../../ui/device-parts.tsx'

/** One device of the list: its name, and what the operator wants to see of it. */
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
  const { deviceId, name, status } = device
  const telling = { now: now.value, units: shownUnits() }
  const text = (of: (id: ColumnId) => boolean) =>
    COLUMNS.flatMap((column) =>
      columns.includes(column.id) && of(column.id) ? (column.text(device, telling) ?? []) : [],
    ).join(' · ')
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
      </span>
      <span class="device-when note">{text((id) => id === 'status')}</span>
      <span class="device-id note">
        {name !== null && columns.includes('id') && (
          <Isolated class="one-line">{deviceId}</Isolated>
        )}
      </span>
      <span class="device-how note">
        <Isolated class="one-line">{text((id) => id !== 'status' && id !== 'id')}</Isolated>
      </span>
    </button>
  )
}
