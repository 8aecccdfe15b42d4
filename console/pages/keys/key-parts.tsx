import { countText } from '../../core/measures.ts'
import { IsolatedList, isolate, Isolated } from '../../ui/isolated.tsx'
import type { Column } from '../../ui/table.tsx'
import { Ago, Time } from '../../ui/time.tsx'
import { scopeWords, KEY_STATUS_WORDS, type Key } from './key-words.ts'
import { api } from '../../api/client.ts'
import { addressOf, devicePath, keyPath } from '../../core/address.ts'
import { Dialog } from '../../ui/dialog.tsx'
import type { DialogProps } from '../../ui/form-dialog.tsx'
import { Loaded } from '../../ui/states.tsx'
import { useLoad } from '../../ui/use-load.ts'

/** The columns of a key without its name. */
export const KEY_FACTS: readonly Column<Key>[] = [
  {
    title: 'Status',
    cell: ({ status, previousValidUntil }) => (
      <>
        <span class={`badge ${status}`}>{KEY_STATUS_WORDS[status]}</span>
        {status === 'rotating' && previousValidUntil !== null && (
          <div class="note">
            old one until <Time at={previousValidUntil} />
          </div>
        )}
      </>
    ),
  },
  { title: 'Secret', cell: ({ hint }) => <code class="time">{hint}</code> },
  {
    title: 'Last used',
    cell: ({ lastUsedAt, refusedRequests, lastRefusedAt }) => (
      <>
        {lastUsedAt ? <Ago at={lastUsedAt} /> : 'never'}
        {lastRefusedAt !== null && (
          <div class="note">
            {countText(refusedRequests, 'request')} refused, last <Ago at={lastRefusedAt} />
          </div>
        )}
      </>
    ),
  },
  { title: 'Expires', cell: ({ expiresAt }) => (expiresAt ? <Time at={expiresAt} /> : 'never') },
  {
    title: 'Permissions',
    cell: ({ scopes, deviceIds, rateLimit }) => (
      <>
        <span class="text" title={scopeWords(scopes)}>
          {scopeWords(scopes)}
        </span>
        {(deviceIds !== null || rateLimit !== null) && (
          <div class="note one-line">
            {deviceIds !== null && <IsolatedList most={3}>{deviceIds}</IsolatedList>}
            {deviceIds !== null && rateLimit !== null && ' · '}
            {rateLimit !== null && `${countText(rateLimit, 'position')} per minute`}
          </div>
        )}
      </>
    ),
  },
]

export const KEY_COLUMNS: readonly Column<Key>[] = [
  {
    title: 'Name',
    cell: (key) => (
      <span class="strong">
        <KeyLink of={key} />
      </span>
    ),
  },
  ...KEY_FACTS,
]

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
                <span class="quiet">{lastSeenAt !== undefined && <Ago at={lastSeenAt} />}</span>
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
