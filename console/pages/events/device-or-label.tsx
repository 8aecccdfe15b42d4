import { api } from '../../api/client.ts'
import { labelOf } from '../../core/live-device.ts'
import { fleet } from '../../live/live.ts'
import { FilterPick } from '../../ui/filters.tsx'
import { findIn, type PickOption } from '../../ui/pick.tsx'
import { findDevices } from '../geofences/whom.tsx'

type Chosen = { readonly deviceId?: string; readonly label?: string }

/** A filter of a list by one device, found by its name, or by a label. */
export function DeviceOrLabel({ of: chosen }: { of: Chosen }) {
  return (
    <FilterPick
      names={['deviceId', 'label']}
      label="Device or label"
      placeholder="All"
      words={deviceWords(chosen)}
      find={findDevicesAndLabels}
    />
  )
}

function deviceWords({ deviceId, label }: Chosen): string {
  if (label !== undefined) return `Label ${label}`
  return deviceId === undefined
    ? ''
    : labelOf(fleet.devices.get(deviceId) ?? { deviceId, name: null })
}

async function findDevicesAndLabels(
  typed: string,
  signal: AbortSignal,
): Promise<readonly PickOption[]> {
  const [devices, labels] = await Promise.all([
    findDevices(typed, signal),
    api.get('/labels', { signal }),
  ])
  const offered = labels.items.map(({ label }) => [`label ${label}`, `Label ${label}`] as const)
  return [
    ...(await findIn(offered)(typed, signal)),
    ...devices.map((device) => ({ ...device, value: `deviceId ${device.value}` })),
  ]
}
