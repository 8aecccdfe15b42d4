import type { LiveDevice } from '../../core/live-device.ts'
import { FormDialog, type DialogProps } from '../../ui/form-dialog.tsx'
import { shownCount } from '../../ui/shown.ts'
import { switchDevices } from '../device/switch-devices.ts'

/** Disables many devices, after asking: what they report meanwhile is lost. */
export function DisableDevices({
  devices,
  ...props
}: DialogProps & { devices: readonly LiveDevice[] }) {
  const left = devices.filter(({ disabled }) => !disabled)
  const count = shownCount(left.length, 'device')

  async function disable(): Promise<void> {
    await switchDevices(
      left.map(({ deviceId }) => deviceId),
      true,
    )
    props.onClose()
  }

  return (
    <FormDialog {...props} title={`Disable ${count}?`} button="Disable" danger submit={disable}>
      <p>Their reports are rejected until you enable them again. Their history stays.</p>
    </FormDialog>
  )
}
