import { useState } from 'preact/hooks'
import { api } from '../../api/client.ts'
import { ApiFailure } from '../../core/failure.ts'
import { fleet, markChanged } from '../../live/live.ts'
import { serverNow } from '../../api/client.ts'
import type { ApiDevice } from '../../core/live-device.ts'
import { toast } from '../../ui/announcer.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, Form } from '../../ui/form.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import { go } from '../../ui/router.ts'
import { FailedLine } from '../../ui/states.tsx'
import { useAction } from '../../ui/use-action.ts'

/** The settings of a device that admins may change. */
export function DeviceSettings({ device, onChange }: { device: ApiDevice; onChange: () => void }) {
  const [open, setOpen] = useState<'edit' | 'erase'>()
  const { deviceId, disabled } = device
  const toggle = useAction(async () => {
    await change(device, { disabled: !disabled })
    toast(disabled ? 'The device may report again' : 'Its reports are refused from now on')
    onChange()
  })
  const close = () => setOpen(undefined)
  return (
    <section class="card" aria-labelledby="device-settings">
      <h2 id="device-settings">Settings</h2>
      <dl class="device-facts">
        <div>
          <dt>Name</dt>
          <dd>{device.name === null ? 'none' : <Isolated>{device.name}</Isolated>}</dd>
        </div>
        <div>
          <dt>Reports every</dt>
          <dd>
            {device.expectedIntervalSeconds === undefined
              ? 'not said'
              : `${device.expectedIntervalSeconds} s`}
          </dd>
        </div>
        <div>
          <dt>Reports</dt>
          <dd>{disabled ? 'are refused' : 'are accepted'}</dd>
        </div>
      </dl>
      {toggle.failure !== undefined && <FailedLine failure={toggle.failure} />}
      <div class="buttons">
        <button type="button" onClick={() => setOpen('edit')}>
          Edit
        </button>
        <button type="button" disabled={toggle.isRunning} onClick={toggle.run}>
          {disabled ? 'Enable' : 'Disable'}
        </button>
        <button type="button" class="danger" onClick={() => setOpen('erase')}>
          Erase …
        </button>
      </div>
      {open === 'edit' && <EditDialog device={device} onClose={close} onChange={onChange} />}
      {open === 'erase' && <EraseDialog deviceId={deviceId} onClose={close} />}
    </section>
  )
}

function EditDialog({
  device,
  onClose,
  onChange,
}: {
  device: ApiDevice
  onClose: () => void
  onChange: () => void
}) {
  return (
    <Dialog title="Edit the device" onClose={onClose}>
      <Form
        button="Save"
        cancel={onClose}
        submit={async ({ name = '', expectedIntervalSeconds = '' }) => {
          await change(device, {
            name: name.trim() === '' ? null : name.trim(),
            expectedIntervalSeconds:
              expectedIntervalSeconds === '' ? null : Number(expectedIntervalSeconds),
          })
          toast('Saved')
          onChange()
          onClose()
        }}
      >
        <Field
          name="name"
          label="Name"
          defaultValue={device.name ?? ''}
          autoFocus
          hint="Empty: it is called by its id"
        />
        <Field
          name="expectedIntervalSeconds"
          label="Reports every … seconds"
          type="number"
          inputMode="numeric"
          defaultValue={String(device.expectedIntervalSeconds ?? '')}
          hint="From this it is told when the device counts as idle and offline. Empty: 5 and 60 minutes"
        />
      </Form>
    </Dialog>
  )
}

function EraseDialog({ deviceId, onClose }: { deviceId: string; onClose: () => void }) {
  const [typed, setTyped] = useState('')
  const [isWrong, setWrong] = useState(false)
  return (
    <Dialog title="Erase the device" onClose={onClose}>
      <p>
        All its records, its status and its settings go, and cannot be brought back. When it reports
        again, it starts afresh.
      </p>
      <Form
        button="Erase for good"
        danger
        cancel={onClose}
        submit={async () => {
          setWrong(typed !== deviceId)
          if (typed !== deviceId) return
          await api.delete('/devices/{deviceId}', { path: { deviceId } })
          fleet.erased(deviceId)
          markChanged()
          toast('The device is erased')
          go('/')
        }}
      >
        <Field
          name="deviceId"
          label="Type its id to confirm"
          hint={<Isolated>{deviceId}</Isolated>}
          fault={isWrong ? 'This is not its id' : undefined}
        >
          {(attributes) => (
            <input
              {...attributes}
              value={typed}
              autoComplete="off"
              onInput={({ currentTarget }) => setTyped(currentTarget.value)}
            />
          )}
        </Field>
      </Form>
    </Dialog>
  )
}

type Change = {
  readonly name?: string | null
  readonly disabled?: boolean
  readonly expectedIntervalSeconds?: number | null
}

/** Changes settings, in the fleet too: the stream sends them only with the next report. */
async function change(device: ApiDevice, body: Change): Promise<void> {
  const { deviceId } = device
  const changed = await api.patch('/devices/{deviceId}', { path: { deviceId }, body })
  if (changed.lastPosition === undefined) {
    throw new ApiFailure('it has not reported for as long as records are kept', {
      status: 404,
      error: 'NOT_FOUND',
    })
  }
  fleet.status({ ...device, ...changed }, serverNow())
  markChanged()
}
