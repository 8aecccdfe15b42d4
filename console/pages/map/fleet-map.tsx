import { signal } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { LocateFixed, Maximize, Shapes } from 'lucide'
import type OlMap from 'ol/Map.js'
import type { Coordinates } from '../../../schemas/geo/distance.ts'
import { toMercator } from '../../../schemas/geo/mercator.ts'
import { isOneSpot } from '../../core/bounds.ts'
import { labelOf, type LiveDevice } from '../../core/live-device.ts'
import { fleetChanges } from '../../live/announce-changes.ts'
import { FleetPainter } from '../../map/fleet-painter.ts'
import { GeofencePainter, type PaintedGeofence } from '../../map/geofence-painter.ts'
import { MapHost } from '../../map/map-host.tsx'
import { fitPoints, flyTo, MAX_ZOOM, toMap } from '../../map/open-map.ts'
import { announce } from '../../ui/announcements.tsx'
import { IconButton } from '../../ui/icon.tsx'
import { palette } from '../../ui/palette.ts'
import { sortDevices } from '../../core/choose-devices.ts'
import { pastAt, shownNow, shownSos } from './shown-fleet.ts'
import { alarmAt, alarmId, chosenDevices, listOrder, select, showsGeofences } from './map-state.ts'
import { pin } from './pin.ts'
import { middleSpot, onSpotMenu, SpotMenu, type OpenSpot } from './spot-menu.tsx'

/** The last view of the map, remembered while other pages are open. */
let lastView: { center: number[]; zoom: number } | undefined

/** Whether the view follows the selected device; the operator ends that by moving the map. */
export const following = signal(false)

let shown: OlMap | undefined

/** Moves the map, if it is open, to the device at street level. */
function showOnMap(device: LiveDevice): void {
  if (shown !== undefined) flyTo(shown, device)
}

type FleetMapProps = {
  readonly geofences: readonly PaintedGeofence[]
  /** The devices currently on the map; read again whenever the fleet changes. */
  readonly devices: () => readonly LiveDevice[]
  /** Whether all devices are known, so that the view can be fitted to them. */
  readonly isRead: boolean
  readonly selected: () => LiveDevice | undefined
  readonly onSelect: (device: LiveDevice) => void
  /** Called when the operator chooses several devices that no zoom separates, or `s` is pressed. */
  readonly onSpot: (devices: readonly LiveDevice[]) => void
  /** Called by the Enter key. */
  readonly onEnter: () => void
}

/** The map of all devices. Once fitted, only the operator moves its view. */
export function FleetMap(props: FleetMapProps) {
  const latest = useRef(props)
  latest.current = props
  const { geofences, devices, selected, onSelect, onSpot, onEnter } = props
  const [menu, setMenu] = useState<OpenSpot>()
  const below = useRef<GeofencePainter>(null)
  const painted = useRef<FleetPainter>(null)
  /** The call for help that the view was fitted to. */
  const fitted = useRef<string | null>(null)
  // Not with each change of the fleet: there may be thousands.
  useEffect(() => below.current?.paint({ geofences }), [geofences, palette.value])
  const choose = (by: 1 | -1) => ({
    label: 'Next or previous device in view',
    run: () => {
      const inView = painted.current?.inView() ?? []
      const here = inView.findIndex((device) => device === selected())
      const next = inView.at(here < 0 && by < 0 ? -1 : (here + by) % inView.length)
      if (next === undefined) return
      onSelect(next)
      announce(labelOf(next))
    },
  })
  return (
    <>
      <MapHost
        label="Map: arrow keys move it, + and − zoom, n and p select a device; the list beside it holds the same devices"
        inputs={[
          fleetChanges.value,
          devices,
          selected,
          following.value,
          pastAt.value,
          props.isRead,
          shownSos.value,
          alarmAt.value,
          pin.value,
        ]}
        open={(map) => {
          shown = map
          onSpotMenu(map, setMenu)
          below.current = new GeofencePainter(map)
          return (painted.current = openFleet(map, () => latest.current))
        }}
        onPan={() => (following.value = false)}
        keys={{
          n: choose(1),
          p: choose(-1),
          s: {
            label: 'Show all devices at the selected one’s place',
            run: () => {
              const here = selected()
              if (here !== undefined) onSpot(devices().filter((one) => areOneSpot([here, one])))
            },
          },
          Enter: { label: 'Go to the selected device’s card', run: onEnter },
          m: {
            label: 'Open the menu of the map’s middle',
            run: () => shown && setMenu(middleSpot(shown)),
          },
        }}
        paint={(map, painter) => {
          painter.paint({
            devices: devices(),
            selected: selected(),
            now: shownNow.peek(),
            sos: shownSos.value,
            alarmAt: alarmAt.value,
            pin: pin.value && toMercator(pin.value.longitude, pin.value.latitude),
          })
          const called = alarmAt.value
          const calling = selected()
          if (called !== undefined && calling !== undefined && fitted.current !== alarmId.value) {
            fitted.current = alarmId.value
            lastView ??= { center: [], zoom: 0 }
            fitPoints(map, [called, calling])
          }
          if (lastView === undefined && props.isRead && devices().length > 0) {
            lastView = { center: [], zoom: 0 }
            const first =
              selected() ?? (pin.value && toMercator(pin.value.longitude, pin.value.latitude))
            if (first === undefined) fitPoints(map, devices())
            else flyTo(map, first, { animated: false })
          }
          const followed = following.value ? selected() : undefined
          if (followed !== undefined) map.getView().setCenter(toMap(followed))
        }}
        leave={(map) => {
          shown = undefined
          const [center, zoom] = [map.getView().getCenter(), map.getView().getZoom()]
          if (center !== undefined && zoom !== undefined) lastView = { center, zoom }
        }}
      >
        <IconButton
          icon={Maximize}
          label="Fit all"
          title="Fit all (0)"
          onClick={() => shown && fitPoints(shown, devices())}
          data-fit-all
        />
        <IconButton
          icon={Shapes}
          label="Geofences"
          title="Show geofences"
          aria-pressed={showsGeofences.value === 'on'}
          onClick={() => (showsGeofences.value = showsGeofences.value === 'on' ? 'off' : 'on')}
        />
        <IconButton
          icon={LocateFixed}
          label="Follow"
          title="Follow the selected device (f)"
          aria-pressed={following.value}
          disabled={selected() === undefined}
          onClick={() => (following.value = !following.value)}
        />
      </MapHost>
      {menu && <SpotMenu of={menu} onClose={() => setMenu(undefined)} />}
    </>
  )
}

function openFleet(map: OlMap, props: () => FleetMapProps): FleetPainter {
  const painter = new FleetPainter(map)
  if (lastView !== undefined) {
    map.getView().setCenter(lastView.center)
    map.getView().setZoom(lastView.zoom)
  }
  const target = map.getTargetElement() as HTMLElement
  map.on('pointerdrag', () => {
    // A block, because a returned false would stop the map from being dragged.
    following.value = false
  })
  map.on('click', ({ pixel }) => click(map, painter, pixel, props()))
  map.on('pointermove', ({ pixel, dragging }) => {
    if (!dragging) target.style.cursor = painter.at(pixel) === undefined ? '' : 'pointer'
  })
  return painter
}

const areOneSpot = (devices: readonly LiveDevice[]) => isOneSpot(devices, { maxZoom: MAX_ZOOM })

function click(
  map: OlMap,
  painter: FleetPainter,
  pixel: readonly number[],
  { onSelect, onSpot }: FleetMapProps,
): void {
  const cluster = painter.at(pixel)
  if (cluster === undefined) return
  const [device] = cluster.devices
  if (cluster.devices.length === 1 && device !== undefined) return onSelect(device)
  following.value = false
  if (areOneSpot(cluster.devices)) onSpot(cluster.devices)
  else fitPoints(map, cluster.devices)
}

/** Selects a device outside the map, which then shows it. */
export function selectAndShow(device: LiveDevice): void {
  select(device.deviceId)
  showOnMap(device)
}

/** Selects the best match of the search, if there is one. */
export function selectFirst(): boolean {
  const [first] = sortDevices([...chosenDevices()], listOrder())
  if (first !== undefined) selectAndShow(first)
  return first !== undefined
}

/** Moves the map there, at street level. */
export function flyToPlace({ latitude, longitude }: Coordinates): void {
  following.value = false
  // A view of a place must not be replaced by that of the whole fleet.
  lastView ??= { center: [], zoom: 0 }
  if (shown !== undefined) flyTo(shown, toMercator(longitude, latitude))
}

/** The middle of the map in the words of the API, to a hundred metres. */
export function middleOfMap(): string | undefined {
  if (shown?.getSize() === undefined) return undefined
  const { latitude, longitude } = middleSpot(shown).at
  return `${latitude.toFixed(3)},${longitude.toFixed(3)}`
}
