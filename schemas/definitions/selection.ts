/**
 * The devices that a definition is about: the named devices, and those with any of the labels;
 * without both, all devices.
 */
export type DeviceSelection = {
  readonly deviceIds?: readonly string[]
  readonly labels?: readonly string[]
}

export type SelectableDevice = { readonly deviceId: string; readonly labels: readonly string[] }

/** An empty list selects nothing: the devices it named were erased. */
export function isSelected(
  { deviceIds, labels }: DeviceSelection,
  device: SelectableDevice,
): boolean {
  if (deviceIds === undefined && labels === undefined) return true
  if (deviceIds?.includes(device.deviceId) === true) return true
  return labels?.some((label) => device.labels.includes(label)) === true
}
