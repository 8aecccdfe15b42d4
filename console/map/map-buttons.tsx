import type { ComponentChildren } from 'preact'
import { Minus, Plus } from 'lucide'
import type OlMap from 'ol/Map.js'
import { IconButton } from '../ui/icon-button.tsx'
import { isAnimated } from './open-map.ts'

/** Buttons over a map: zooming, and below it the map's other functions. */
export function MapButtons({
  map,
  children,
}: {
  map: OlMap | undefined
  children?: ComponentChildren
}) {
  return (
    <div class="map-buttons stack near">
      <div class="map-group">
        <IconButton icon={Plus} label="Zoom in" onClick={() => zoomBy(map, 1)} />
        <IconButton icon={Minus} label="Zoom out" onClick={() => zoomBy(map, -1)} />
      </div>
      {children}
    </div>
  )
}

function zoomBy(map: OlMap | undefined, levels: number): void {
  const view = map?.getView()
  const zoom = view?.getZoom()
  if (zoom !== undefined) view?.animate({ zoom: zoom + levels, duration: isAnimated() ? 150 : 0 })
}
