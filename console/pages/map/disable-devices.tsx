import { api } from '../../api/client.ts'
import type { LiveDevice } from '../../core/live-device.ts'
import { markChanged } from '../../live/announce-changes.ts'
import { toast } from '../../ui/announcer.tsx'
import { FormDialog, type DialogProps } from '../../ui/form-dialog.tsx'
import { ageTo } from '../../core/live-device.ts'
import { now } from '../../ui/clock.ts'

/** A session has eight calls under way; some are left for the page itself. */
const CALLS_AT_ONCE = 4

/** Disables many devices, after asking. */
export function DisableDevices({
  devices,
  ...props
}: DialogProps & { devices: readonly LiveDevice[] }) {
  const left = devices.filter(({ disabled }) => !disabled)
  const count = left.length === 1 ? '1 device' : `${left.length} devices`

  async function disable(): Promise<void> {
    const waiting = [...left]
    const work = async () => {
      for (let device = waiting.shift(); device !== undefined; device = waiting.shift()) {
        const { deviceId } = device
        await api.patch('/devices/{deviceId}', { path: { deviceId }, body: { disabled: true } })
        device.disabled = true
        ageTo(device, now.peek())
      }
    }
    await Promise.all(Array.from({ length: CALLS_AT_ONCE }, work)).finally(markChanged)
    toast(`${count} disabled`)
    props.onClose()
  }

  return (
    <FormDialog {...props} title={`Disable ${count}?`} button="Disable" danger submit={disable}>
      <p>
        Their reports are refused until you enable them again, on the page of each. What they have
        reported stays.
      </p>
    </FormDialog>
  )
}
