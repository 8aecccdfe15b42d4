import { effect } from '@preact/signals'
import VectorTileLayer from 'ol/layer/VectorTile.js'
import { PMTilesVectorSource } from 'ol-pmtiles'
import ViewHint from 'ol/ViewHint.js'
import { palette } from '../ui/palette.ts'
import type { Archive } from './archive.ts'
import { worldStyle } from './world-style.ts'

/** A vector map in the colours of the theme, until `closing`. */
export function vectorLayer(
  file: Archive,
  { zIndex, closing, ...most }: { zIndex: number; closing: AbortSignal; maxZoom?: number },
): VectorTileLayer {
  const layer = new VectorTileLayer({
    zIndex,
    declutter: true,
    // It accepts either option; its type requires both at once.
    source: new PMTilesVectorSource({ url: file as Archive & string, ...most }),
  })
  // During a zoom nobody sees the difference, and without a GPU smoothing takes a third of each
  // frame.
  layer.on('prerender', ({ context, frameState }) => {
    const isZooming = (frameState?.viewHints[ViewHint.ANIMATING] ?? 0) > 0
    if (isZooming && context !== undefined && 'imageSmoothingEnabled' in context)
      context.imageSmoothingEnabled = false
  })
  const restyle = effect(() => layer.setStyle(worldStyle(palette.value)))
  closing.addEventListener('abort', restyle)
  return layer
}
