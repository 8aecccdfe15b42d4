import type { ComponentChildren } from 'preact'
import { Minus, Plus } from 'lucide'
import type OlMap from 'ol/Map.js'
import { IconButton } from '../ui/icon.tsx'
import { zoomBy } from './open-map.ts'

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
        <IconButton icon={Plus} label="Zoom in" onClick={() => map && zoomBy(map, 1)} />
        <IconButton icon={Minus} label="Zoom out" onClick={() => map && zoomBy(map, -1)} />
      </div>
      {children}
    </div>
  )
}
