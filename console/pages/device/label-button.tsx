import type { Labelled } from '../../core/label-changes.ts'
import { may } from '../../live/session.ts'
import { useDialog } from '../../ui/form-dialog.tsx'
import { LabelDevices } from './label-devices.tsx'

/** Opens the labels of a device, for those who may change them. */
export function LabelButton({
  device,
  onDone = () => undefined,
}: {
  device: Labelled
  onDone?: () => void
}) {
  const { dialog, open } = useDialog(onDone)
  if (!may('devices.edit')) return null
  return (
    <>
      <button
        type="button"
        onClick={() => open((props) => <LabelDevices devices={[device]} {...props} />)}
      >
        Label
      </button>
      {dialog}
    </>
  )
}
