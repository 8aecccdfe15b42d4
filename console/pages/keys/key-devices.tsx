import { api } from '../../api/client.ts'
import { addressOf, devicePath, keyPath } from '../../core/address.ts'
import { Dialog } from '../../ui/dialog.tsx'
import type { DialogProps } from '../../ui/form-dialog.tsx'
import { isolate, Isolated } from '../../ui/isolated.tsx'
import { Loaded } from '../../ui/states.tsx'
import { Ago } from '../../ui/time.tsx'
import { useLoad } from '../../ui/use-load.ts'
import type { Key } from './key-words.ts'

const SHOWN = 50

/** The devices that last reported with a key. */
export function KeyDevices({ of: { id, name }, onClose }: DialogProps & { of: Key }) {
  return (
    <Dialog title={`Devices of ${isolate(name)}`} onClose={onClose}>
      <DevicesOfKey keyId={id} onLeave={onClose} />
    </Dialog>
  )
}

/** The list of these devices, each with a link. */
export function DevicesOfKey({ keyId, onLeave }: { keyId: string; onLeave?: () => void }) {
  const devices = useLoad(
    (signal) => api.get('/devices', { query: { keyId, limit: SHOWN + 1 }, signal }),
    [keyId],
  )
  return (
    <Loaded of={devices} lines={2}>
      {({ items }) =>
        items.length === 0 ? (
          <p class="quiet">No device reports with it.</p>
        ) : (
          <ul class="stack tight" aria-label="Devices of the key">
            {items.slice(0, SHOWN).map(({ deviceId, name, lastSeenAt }) => (
              <li key={deviceId}>
                <a href={addressOf(devicePath(deviceId))} onClick={onLeave}>
                  <Isolated>{name ?? deviceId}</Isolated>
                </a>{' '}
                <span class="quiet">
                  <Ago at={lastSeenAt} />
                </span>
              </li>
            ))}
            {items.length > SHOWN && <li class="quiet">and more</li>}
          </ul>
        )
      }
    </Loaded>
  )
}

/** The name of a key, as a link to its page. */
export function KeyLink({ of: { id, name } }: { of: { id: string; name: string } }) {
  return (
    <a href={addressOf(keyPath(id))}>
      <Isolated>{name}</Isolated>
    </a>
  )
}
