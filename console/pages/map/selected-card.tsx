import { Pin, X } from 'lucide'
import { api } from '../../api/client.ts'
import { factPath, momentPath } from '../../core/device-facts.ts'
import { openSos } from '../../live/alarms.ts'
import { may } from '../../live/session.ts'
import { watchWords } from '../../live/announce-changes.ts'
import { placeName } from './device-places.ts'
import { lister } from '../../live/live.ts'
import { labelOf, newestTelemetry, type LiveDevice } from '../../core/live-device.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { FactIcon } from '../../ui/fact-line.tsx'
import { Facts } from '../../ui/facts.tsx'
import { IconButton } from '../../ui/icon.tsx'
import { Labels, StatusShape, attributeFacts, ShareLink } from '../../ui/device-parts.tsx'
import { readerZone } from '../../ui/preferences.ts'
import { Time } from '../../ui/time.tsx'
import { readerUnits, formatLength } from '../../ui/shown.ts'
import { Isolated } from '../../ui/isolated.tsx'
import { connectionText, motionText } from '../../core/device-words.ts'
import { batteryText, coordinatesText } from '../../core/measures.ts'
import { HandlingLine } from '../events/handling.tsx'
import { LabelButton } from '../device/labels.tsx'
import { mapGeofences, pinned, select, selectedId, togglePinned } from './map-state.ts'
import { pastAt, shownFleet, shownNow } from './shown-fleet.ts'
import { addressOf, devicePath } from '../../core/address.ts'
import { visitsPath } from '../../core/visits-path.ts'
import { useLoad } from '../../ui/use-load.ts'
import { StandingList } from '../device/standing-list.tsx'

/** The details of the selected device. */
export function SelectedCard() {
  watchWords()
  const id = selectedId.value
  if (id === undefined) return null
  const device = shownFleet().devices.get(id)
  const past = pastAt.value
  if (device === undefined) {
    return past === undefined && lister.isListed.value ? <Gone deviceId={id} /> : null
  }
  const { name, status, position } = device
  const { battery, attributes } = newestTelemetry(device)
  const coordinates = coordinatesText(position)
  return (
    <section class="selected-card stack near" aria-label="Selected device">
      <header>
        <StatusShape status={status} />
        <h2 class="two-lines">
          <Isolated>{labelOf(device)}</Isolated>
        </h2>
        <IconButton
          icon={Pin}
          label="Pin to the top"
          small
          class="plain"
          aria-pressed={pinned.value.has(id)}
          onClick={() => togglePinned(id)}
        />
        <IconButton
          icon={X}
          label="Deselect"
          small
          class="plain"
          onClick={() => select(undefined)}
        />
      </header>
      {name !== null && <Isolated class="note">{id}</Isolated>}
      <p>
        <Isolated>
          {[
            connectionText(device, shownNow.value),
            motionText(device, shownNow.value, readerUnits()),
            placeName(device),
          ]
            .filter(Boolean)
            .join(' · ')}
        </Isolated>
      </p>
      {past === undefined && <OpenCalls of={device} />}
      {past === undefined ? <LiveStandings of={device} /> : <PastStandings of={device} />}
      <Labels of={device.labels} />
      <Facts
        class="tiles near"
        of={[
          ['Battery', batteryText(battery)],
          ['Altitude', formatLength(position.altitude)],
          ['Accuracy', formatLength(position.accuracy)],
          ...attributeFacts(attributes),
        ]}
      />
      <p class="row between">
        <code>{coordinates}</code> <CopyButton text={coordinates} what="coordinates" />
      </p>
      <div class="row">
        <a
          class="button"
          href={addressOf(past === undefined ? devicePath(id) : momentPath(id, past, readerZone()))}
        >
          History and settings
        </a>
        <LabelButton device={device} />
        <a class="button" href={addressOf(visitsPath(position))}>
          Who was here?
        </a>
        {may('shares.edit') && <ShareLink deviceId={id} />}
      </div>
    </section>
  )
}

/** Shown for a device that was erased or never existed. */
function Gone({ deviceId }: { deviceId: string }) {
  return (
    <section class="selected-card stack near" aria-label="Selected device">
      <p>
        No device <Isolated class="strong">{deviceId}</Isolated>: it has been erased, or has not
        reported yet.
      </p>
      <button type="button" onClick={() => select(undefined)}>
        Deselect
      </button>
    </section>
  )
}

/** The device's open calls for help. */
function OpenCalls({ of: device }: { of: LiveDevice }) {
  return openSos.value
    .filter(({ deviceId }) => deviceId === device.deviceId)
    .map((fact) => (
      <div key={fact.id} class="row">
        <FactIcon type={fact.type} />
        <a href={addressOf(factPath(fact, readerZone()))}>
          SOS <Time at={fact.at} />
        </a>
        <HandlingLine of={fact} subject={`SOS of ${labelOf(device)}`} />
      </div>
    ))
}

/** The geofences that it was in, by their names of today. */
function PastStandings({ of: { inside } }: { of: LiveDevice }) {
  const known = mapGeofences.value.filter(({ id }) => inside.includes(id))
  return <StandingList of={{ inside: known.map(({ id, name }) => ({ id, name, since: null })) }} />
}

/** Standings of a live device, which has only their ids. */
function LiveStandings({ of: { deviceId, inside, raised } }: { of: LiveDevice }) {
  const { data } = useLoad(
    async (signal) =>
      inside.length + raised.length > 0
        ? api.get('/devices/{deviceId}', { path: { deviceId }, signal })
        : {},
    [deviceId, inside, raised],
  )
  return data === undefined ? null : <StandingList of={data} />
}
