import { signal } from '@preact/signals'
import type OlMap from 'ol/Map.js'
import type Tile from 'ol/Tile.js'
import TileState from 'ol/TileState.js'
import { containsExtent, intersects, type Extent } from 'ol/extent.js'
import type VectorTileLayer from 'ol/layer/VectorTile.js'

/** Whether streets cover the whole view, so that the base map below them need not be drawn. */
export const isWorldHidden = signal(false)

/**
 * Updates `isWorldHidden` until `closing`: drawing both maps takes twice as long. The base map
 * shows outside the file's area, and where the file lacks a tile.
 */
export function hideBelow(map: OlMap, streets: VectorTileLayer, closing: AbortSignal): void {
  const view = map.getView()
  const [source, area] = [streets.getSource(), streets.getExtent()]
  const gaps: Extent[] = []
  let isDrawn = false

  const look = () => {
    const seen = view.calculateExtent(map.getSize())
    isWorldHidden.value =
      isDrawn &&
      (view.getZoom() ?? 0) > streets.getMinZoom() &&
      area !== undefined &&
      containsExtent(area, seen) &&
      !gaps.some((gap) => intersects(gap, seen))
  }
  const settle = (tile: Tile) => {
    const state: unknown = tile.getState()
    if (state === TileState.LOADED) isDrawn = true
    else if (state !== TileState.EMPTY && state !== TileState.ERROR) return
    else gaps.push(source?.getTileGrid()?.getTileCoordExtent(tile.getTileCoord()) ?? [])
    look()
  }
  // The source sends no events about empty tiles.
  source?.on('tileloadstart', ({ tile }) => {
    tile.addEventListener('change', () => settle(tile))
  })
  view.on(['change:center', 'change:resolution'], look)
  map.on('change:size', look)
  closing.addEventListener('abort', () => {
    view.un(['change:center', 'change:resolution'], look)
    map.un('change:size', look)
    isWorldHidden.value = false
  })
}
