import { countByLabel } from '../../core/choose-devices.ts'
import { watchWords } from '../../live/announce-changes.ts'
import { fleet } from '../../live/live.ts'
import { isolate } from '../../ui/isolated.tsx'
import { Select } from '../../ui/select-field.tsx'
import { filterByLabel, chosenLabel } from './map-state.ts'

/** Shows only the devices with a label; absent where no device has one. */
export function LabelFilter() {
  watchWords()
  const counts = new Map(countByLabel(fleet.devices.values()))
  // The address may name a label that no device has any longer.
  if (chosenLabel.value !== '' && !counts.has(chosenLabel.value)) counts.set(chosenLabel.value, 0)
  if (counts.size === 0) return null
  return (
    <Select
      aria-label="Label"
      options={[
        ['', 'All labels'],
        ...[...counts].map(([one, count]) => [one, `${isolate(one)} (${count})`] as const),
      ]}
      value={chosenLabel.value}
      onChange={filterByLabel}
    />
  )
}
