import { api } from '../../api/client.ts'
import type { ApiDevice } from '../../core/live-device.ts'
import { may } from '../../live/session.ts'
import { useDialog, FormDialog, type DialogProps } from '../../ui/form-dialog.tsx'
import { Loaded } from '../../ui/states.tsx'
import { useLoad } from '../../ui/use-load.ts'
import { KeyLink, DevicesOfKey } from '../keys/key-parts.tsx'
import { KEY_STATUS_WORDS, type Key } from '../keys/key-words.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { changeDevice } from './change-devices.ts'

/** The key that a device reports with; null if none is known. */
export function useKeyOf(device: ApiDevice | undefined, options: { everyMs: number }) {
  const id = device?.lastKeyId
  return useLoad(
    async (signal) =>
      id === undefined ? null : await api.get('/keys/{id}', { path: { id }, signal }),
    [id],
    options,
  )
}

/** A device's key, and what to do if the device is lost. */
export function DeviceKey({
  device,
  of: key,
  onChange,
}: {
  device: ApiDevice
  of: ReturnType<typeof useKeyOf>
  onChange: () => void
}) {
  const { dialog, open } = useDialog(() => {
    key.reload()
    onChange()
  })
  return (
    <section class="card box stack near" aria-labelledby="device-key">
      <h2 id="device-key">Key</h2>
      <Loaded of={key} lines={1}>
        {(found) => (
          <>
            <KeyWords of={found} />
            {may('keys.edit') && (
              <p>
                <button
                  type="button"
                  onClick={() =>
                    open((props) => <LostDevice device={device} usedKey={found} {...props} />)
                  }
                >
                  I lost this device
                </button>
              </p>
            )}
          </>
        )}
      </Loaded>
      {dialog}
    </section>
  )
}

function KeyWords({ of: key }: { of: Key | null }) {
  if (key === null) return <p class="quiet">Unknown until it reports again.</p>
  const { status } = key
  return (
    <p>
      Reports with key <KeyLink of={key} />
      {status !== 'active' && (
        <>
          {' '}
          <span class={`badge ${status}`}>{KEY_STATUS_WORDS[status]}</span>
        </>
      )}
    </p>
  )
}

type Props = DialogProps & { readonly device: ApiDevice; readonly usedKey: Key | null }

/**
 * Stops reports of a lost device: revokes its key if no other device reports with it, and otherwise
 * disables the device.
 */
function LostDevice({ device, usedKey: key, ...props }: Props) {
  const title = 'I lost this device'
  const others = useLoad(
    async (signal) => {
      if (key === null) return false
      const { items } = await api.get('/devices', { query: { keyId: key.id, limit: 2 }, signal })
      return items.some(({ deviceId }) => deviceId !== device.deviceId)
    },
    [key?.id],
  )
  if (others.data === undefined) {
    return (
      <Dialog title={title} onClose={props.onClose}>
        <Loaded of={others}>{() => null}</Loaded>
      </Dialog>
    )
  }
  if (key === null || key.status === 'revoked' || others.data) {
    return (
      <FormDialog
        {...props}
        title={title}
        button="Disable device"
        danger
        submit={() => changeDevice(device, { disabled: true })}
        done="Device disabled. Its reports are rejected within 5 seconds."
      >
        <WhyDisable of={key} />
      </FormDialog>
    )
  }
  return (
    <FormDialog
      {...props}
      title={title}
      button="Revoke its key"
      danger
      submit={() => api.post('/keys/{id}/revoke', { path: { id: key.id } })}
      done="Key revoked. It stops working within 5 seconds."
    >
      <p>
        No other device reports with its key <KeyLink of={key} />. Once the key is revoked, nobody
        can report with it or read anything. The device’s history stays.
      </p>
    </FormDialog>
  )
}

function WhyDisable({ of: key }: { of: Key | null }) {
  if (key === null) {
    return <p>Its key is unknown. Reports of a disabled device are rejected with any key.</p>
  }
  if (key.status === 'revoked') {
    return (
      <p>
        Its key <KeyLink of={key} /> is revoked already. Reports of a disabled device are rejected
        with any other key, too.
      </p>
    )
  }
  return (
    <>
      <p>
        Other devices report with its key <KeyLink of={key} />, too: revoking the key would silence
        them. Disabling the device rejects its reports alone.
      </p>
      <p>The lost device still holds the key. Give the others new ones, then revoke it.</p>
      <h3>Devices that report with it</h3>
      <DevicesOfKey keyId={key.id} />
    </>
  )
}
