import { deviceIdFault, isListed } from '../../schemas/devices/device-id.ts'
import { LONGEST_LABEL } from '../../schemas/devices/labels.ts'
import type { DeviceSelection } from '../../schemas/definitions/selection.ts'
import { deviceList, type Caller } from '../http/caller.ts'
import { optional } from '../http/resource-fields.ts'
import { nameRule } from '../http/name-rule.ts'
import { list, text } from '../http/rule.ts'

const MOST_DEVICES = 1_000
const MOST_LABELS = 100
const DEVICES_EXPECTED = `deviceIds must be a list of 1 to ${MOST_DEVICES} different deviceIds`
const LABELS_EXPECTED = `labels must be a list of 1 to ${MOST_LABELS} different labels`

/** The devices that a definition applies to. */
export const SELECTION_FIELDS = {
  deviceIds: optional(
    list(
      text({
        max: 128,
        fits: (text) => deviceIdFault(text) === undefined,
        expected: DEVICES_EXPECTED,
      }),
      { max: MOST_DEVICES, expected: DEVICES_EXPECTED },
    ).described(
      'Only these devices and those with one of the `labels`; if neither is given, all devices',
    ),
    {
      shown: {
        type: 'array',
        items: { type: 'string' },
        description: 'Without erased devices; empty if none is left',
      },
      view: visibleDevices,
    },
  ),
  labels: optional(
    list(nameRule('labels', { max: LONGEST_LABEL }), {
      max: MOST_LABELS,
      expected: LABELS_EXPECTED,
    }).described('Only devices with one of these labels, and the `deviceIds`'),
  ),
}

/** For a key bound to devices, other devices do not exist. */
export function visibleDevices({ deviceIds }: DeviceSelection, caller: Caller) {
  const visible = deviceList(caller)
  return deviceIds?.filter((deviceId) => isListed(visible, deviceId))
}
