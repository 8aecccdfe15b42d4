import 'ol/ol.css'
import '../../map/map.css'
import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { LocateFixed, Maximize } from 'lucide'
import type OlMap from 'ol/Map.js'
import { changed, isListed } from '../../live/live.ts'
import type { LiveDevice } from '../../core/live-device.ts'
import { Icon } from '../../ui/icon.tsx'
import { isOneSpot } from '../../core/clusters.ts'
import { FleetPainter } from '../../map/fleet-painter.ts'
import { MapButtons } from '../../map/map-buttons.tsx'
import { MapCredits } from '../../map/map-credits.tsx'
import { fitPoints, MAX_ZOOM, openMap, toMap } from '../../map/open-map.ts'
import { palette } from '../../ui/palette.ts'

/** The last view of the map, kept while other pages are open. */
let lastView: { center: number[]; zoom: number } | undefined

/** Whether the view follows the selected device; the operator ends that by moving the map. */
export const following = signal(false)

export type FleetMapProps = {
  /** The devices on the map now; read again whenever the fleet changes. */
  readonly devices: () => readonly LiveDevice[]
  readonly selected: () => LiveDevice | undefined
  readonly onSelect: (device: LiveDevice) => void
  /** Called when the operator clicks several devices that no zoom separates. */
  readonly onSpot: (devices: readonly LiveDevice[]) => void
}

/** The map of all devices. Only the operator moves its view. */
export function FleetMap(props: FleetMapProps) {
  const target = useRef<HTMLDivElement>(null)
  const shown = useRef<{ map: OlMap; painter: FleetPainter }>(null)
  const latest = useRef(props)
  latest.current = props

  useEffect(() => {
    if (target.current === null) return undefined
    const { map, close } = openMap(target.current)
    const painter = new FleetPainter(map)
    shown.current = { map, painter }
    if (lastView !== undefined) {
      map.getView().setCenter(lastView.center)
      map.getView().setZoom(lastView.zoom)
    }
    map.on('pointerdrag', () => (following.value = false))
    map.on('click', ({ pixel }) => click(map, painter, pixel, latest.current))
    map.on('pointermove', ({ pixel, dragging }) => {
      if (dragging || target.current === null) return
      target.current.style.cursor = painter.at(pixel) === undefined ? '' : 'pointer'
    })
    return () => {
      const [center, zoom] = [map.getView().getCenter(), map.getView().getZoom()]
      if (center !== undefined && zoom !== undefined) lastView = { center, zoom }
      close()
    }
  }, [])

  const count = changed.value
  const colours = palette.value
  useEffect(() => {
    const { map, painter } = shown.current ?? { map: undefined, painter: undefined }
    if (map === undefined || painter === undefined) return
    const selected = props.selected()
    painter.paint({ devices: props.devices(), selected })
    if (lastView === undefined && isListed.value && props.devices().length > 0) {
      lastView = { center: [], zoom: 0 }
      fitPoints(map, props.devices())
    }
    if (following.value && selected !== undefined) map.getView().setCenter(toMap(selected))
  }, [count, colours, props.devices, props.selected, following.value])

  return (
    <div class="fleet-map">
      <div
        ref={target}
        class="map-target"
        tabIndex={0}
        role="application"
        aria-label="Map: arrow keys move it, + and − zoom; the list beside it holds the same devices"
        onKeyDown={({ key }) => {
          if (key.startsWith('Arrow')) following.value = false
        }}
      />
      <MapButtons map={() => shown.current?.map}>
        <button
          type="button"
          aria-label="Fit all"
          title="Fit all (0)"
          onClick={() => shown.current && fitPoints(shown.current.map, latest.current.devices())}
          data-fit-all
        >
          <Icon of={Maximize} />
        </button>
        <button
          type="button"
          aria-label="Follow"
          title="Follow the selected device (f)"
          aria-pressed={following.value}
          disabled={props.selected() === undefined}
          onClick={() => (following.value = !following.value)}
        >
          <Icon of={LocateFixed} />
        </button>
      </MapButtons>
      <MapCredits />
    </div>
  )
}

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
  if (isOneSpot(cluster.devices, { maxZoom: MAX_ZOOM })) onSpot(cluster.devices)
  else fitPoints(map, cluster.devices)
}
