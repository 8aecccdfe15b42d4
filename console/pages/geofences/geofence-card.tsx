import { X } from 'lucide'
import { api } from '../../api/client.ts'
import type { components } from '../../api/schema.ts'
import { addressOf, devicePath } from '../../core/address.ts'
import { shapeText } from '../../core/sketch.ts'
import { secondsText } from '../../core/times.ts'
import { may } from '../../live/session.ts'
import { Facts } from '../../ui/facts.tsx'
import { FormDialog, type DialogProps } from '../../ui/form-dialog.tsx'
import { IconButton } from '../../ui/icon.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import { readerUnits } from '../../ui/shown.ts'
import { Loaded } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { useLoad, type LoadState } from '../../ui/use-load.ts'
import type { ApiGeofence } from './use-definitions.ts'
import { describeDevices } from './whom.tsx'

const EVERY_MS = 10_000

/** The selected geofence: its settings, the devices inside, and its actions. */
export function GeofenceCard({
  of: geofence,
  onChange,
  onDelete,
  onClose,
}: {
  of: ApiGeofence
  onChange: () => void
  onDelete: () => void
  onClose: () => void
}) {
  const { id, name, shape, confirmSeconds, enabled, externalId, properties = {} } = geofence
  const inside = useLoad(
    (signal) => api.get('/geofences/{id}/devices', { path: { id }, signal }),
    [id],
    { everyMs: EVERY_MS },
  )
  return (
    <section class="card box stack some" aria-label="Selected geofence">
      <header class="row between">
        <h2>
          <Isolated>{name}</Isolated>
        </h2>
        <IconButton icon={X} label="Close" small class="plain" onClick={onClose} />
      </header>
      <Facts
        of={[
          ['Shape', shapeText(shape, readerUnits())],
          ['For', <Isolated>{describeDevices(geofence)}</Isolated>],
          ['Confirmed', confirmSeconds > 0 ? `after ${secondsText(confirmSeconds)}` : undefined],
          ['State', enabled ? undefined : 'Disabled'],
          ['External id', externalId && <Isolated>{externalId}</Isolated>],
          ...Object.entries(properties).map(
            ([key, value]) => [<Isolated>{key}</Isolated>, <Isolated>{value}</Isolated>] as never,
          ),
        ]}
      />
      <DevicesSince of={inside} title="Inside" empty="No device is inside." />
      <div class="row">
        {may('geofences.edit') && (
          <>
            <button type="button" onClick={onChange}>
              Change
            </button>
            <button type="button" class="danger" onClick={onDelete}>
              Delete
            </button>
          </>
        )}
        <a class="button" href={addressOf(`/?geofence=${id}`)}>
          On the map
        </a>
        <a class="button" href={addressOf(`/events?geofenceId=${id}`)}>
          Events
        </a>
        <a class="button" href={addressOf(`/visits?geofenceId=${id}`)}>
          Who was here?
        </a>
        {may('subscriptions.edit') && (
          <a class="button" href={addressOf(`/notifications?geofence=${id}`)}>
            Notify me …
          </a>
        )}
      </div>
    </section>
  )
}

/** The devices in a geofence, or for which a rule is raised, and since when. */
export function DevicesSince({
  of: devices,
  title,
  empty,
}: {
  of: LoadState<components['schemas']['DeviceSincePage']>
  title: string
  empty: string
}) {
  return (
    <div class="stack tight">
      <h3>{title}</h3>
      <Loaded of={devices} lines={1}>
        {({ items, nextCursor }) => (
          <ul class="stack tight" aria-label={title}>
            {items.map(({ deviceId, name, since }) => (
              <li key={deviceId}>
                <a href={addressOf(devicePath(deviceId))}>
                  <Isolated>{name ?? deviceId}</Isolated>
                </a>
                {since !== null && (
                  <span class="quiet">
                    , since <Time at={since} />
                  </span>
                )}
              </li>
            ))}
            {items.length === 0 && <li class="quiet">{empty}</li>}
            {nextCursor !== null && <li class="quiet">and more</li>}
          </ul>
        )}
      </Loaded>
    </div>
  )
}

export function DeleteGeofence({ of: { id, name }, ...props }: DialogProps & { of: ApiGeofence }) {
  return (
    <FormDialog
      {...props}
      title="Delete geofence"
      button="Delete geofence"
      danger
      submit={() => api.delete('/geofences/{id}', { path: { id } })}
      done="Geofence deleted."
    >
      <p>
        <Isolated class="strong">{name}</Isolated> is deleted; devices inside leave it without
        events. Its past events stay.
      </p>
    </FormDialog>
  )
}
