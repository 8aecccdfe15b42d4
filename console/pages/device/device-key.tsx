import { api } from '../../api/client.ts'
import type { ApiDevice } from '../../core/live-device.ts'
import { may } from '../../live/session.ts'
import { useDialog } from '../../ui/form-dialog.tsx'
import { Loaded } from '../../ui/states.tsx'
import { useLoad } from '../../ui/use-load.ts'
import { KeyLink } from '../keys/key-devices.tsx'
import { KEY_STATUS_WORDS, type Key } from '../keys/key-words.ts'
import { LostDevice } from './lost-device.tsx'

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

/** A device's key, and what to do once the device is lost. */
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
