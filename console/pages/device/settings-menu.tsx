import { Settings } from 'lucide'
import { api } from '../../api/client.ts'
import { fieldFailure } from '../../core/failure.ts'
import type { ApiDevice } from '../../core/live-device.ts'
import { markChanged } from '../../live/announce-changes.ts'
import { fleet } from '../../live/live.ts'
import { secondsText } from '../../core/times.ts'
import { may } from '../../live/session.ts'
import { Facts } from '../../ui/facts.tsx'
import { Field } from '../../ui/form.tsx'
import { FormDialog, useDialog, type DialogProps } from '../../ui/form-dialog.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import { Menu } from '../../ui/menu.tsx'
import { go } from '../../ui/router.ts'
import { FailedLine } from '../../ui/states.tsx'
import { useAction } from '../../ui/use-action.ts'
import { changeDevice, switchDevices } from './change-devices.ts'

/** The settings of a device, and what operators with the right to it may change. */
export function SettingsMenu({ device, onChange }: { device: ApiDevice; onChange: () => void }) {
  const { dialog, open } = useDialog(onChange)
  const { name, expectedIntervalSeconds, disabled } = device
  const toggle = useAction(() => switchDevices([device.deviceId], !disabled, onChange))

  return (
    <>
      <Menu
        button={
          <>
            <Icon of={Settings} small /> Settings
          </>
        }
      >
        {(id) => (
          <>
            <Facts
              of={[
                ['Name', name === null ? 'none' : <Isolated>{name}</Isolated>],
                [
                  'Reports every',
                  expectedIntervalSeconds === undefined
                    ? 'not set'
                    : secondsText(expectedIntervalSeconds),
                ],
                ['Reports', disabled ? 'rejected' : 'accepted'],
              ]}
            />
            {toggle.failure !== undefined && <FailedLine failure={toggle.failure} />}
            <div class="row">
              <button
                type="button"
                popovertarget={id}
                popovertargetaction="hide"
                onClick={() => open((props) => <EditDevice device={device} {...props} />)}
              >
                Edit
              </button>
              {may('devices.disable') && (
                <>
                  <button type="button" disabled={toggle.isRunning} onClick={toggle.run}>
                    {disabled ? 'Enable' : 'Disable'}
                  </button>
                  <button
                    type="button"
                    class="danger"
                    popovertarget={id}
                    popovertargetaction="hide"
                    onClick={() => open((props) => <EraseDevice device={device} {...props} />)}
                  >
                    Erase…
                  </button>
                </>
              )}
            </div>
          </>
        )}
      </Menu>
      {dialog}
    </>
  )
}

type OfDevice = DialogProps & { readonly device: ApiDevice }

function EditDevice({ device, ...props }: OfDevice) {
  return (
    <FormDialog
      {...props}
      title="Edit device"
      button="Save"
      submit={({ name = '', expectedIntervalSeconds: every = '' }) =>
        changeDevice(device, {
          name: name.trim() === '' ? null : name.trim(),
          expectedIntervalSeconds: every === '' ? null : Number(every),
        })
      }
      done="Saved"
    >
      <Field
        name="name"
        label="Name"
        defaultValue={device.name ?? ''}
        autoFocus
        hint="Leave empty to use its id."
      />
      <Field
        name="expectedIntervalSeconds"
        label="Reporting interval in seconds"
        type="number"
        inputMode="numeric"
        defaultValue={String(device.expectedIntervalSeconds ?? '')}
        hint="Decides when the device counts as Quiet and as Offline. Leave empty for 5 and 60 minutes."
      />
    </FormDialog>
  )
}

function EraseDevice({ device: { deviceId }, onClose }: OfDevice) {
  return (
    <FormDialog
      title="Erase device"
      button="Erase for good"
      danger
      submit={async ({ deviceId: typed }) => {
        if (typed !== deviceId) throw fieldFailure('deviceId', 'This is not the id of the device.')
        await api.delete('/devices/{deviceId}', { path: { deviceId } })
        fleet.erased(deviceId)
        markChanged()
        go('/')
      }}
      done="Device erased"
      onClose={onClose}
    >
      <p>
        This deletes all its records, its status and its settings for good. If it reports again, it
        starts as a new device.
      </p>
      <Field
        name="deviceId"
        label="Type its id to confirm"
        hint={<Isolated>{deviceId}</Isolated>}
        autoComplete="off"
      />
    </FormDialog>
  )
}
