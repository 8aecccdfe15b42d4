import { effect } from '@preact/signals'
import VectorTileLayer from 'ol/layer/VectorTile.js'
import type { Options } from 'ol/layer/VectorTile.js'
import type { StyleFunction } from 'ol/style/Style.js'
import { PMTilesVectorSource } from 'ol-pmtiles'
import ViewHint from 'ol/ViewHint.js'
import type { Archive } from './archive.ts'

/** All names on the map make room for each other. */
export const VECTOR_NAMES = 'names'

/**
 * A vector map, until `closing`.
 *
 * @param style is called again when one of the signals that it reads has changed.
 */
export function vectorLayer(
  file: Archive,
  style: () => StyleFunction,
  {
    closing,
    maxZoom,
    ...options
  }: Pick<Options, 'zIndex' | 'extent' | 'minZoom'> & { closing: AbortSignal; maxZoom?: number },
): VectorTileLayer {
  const layer = new VectorTileLayer({
    ...options,
    declutter: VECTOR_NAMES,
    source: new PMTilesVectorSource({
      // It accepts either; its type requires both.
      url: file as Archive & string,
      ...(maxZoom !== undefined && { maxZoom }),
    }),
  })
  // During a zoom nobody sees the difference, and without a GPU smoothing takes a third of each
  // frame.
  layer.on('prerender', ({ context, frameState }) => {
    const isZooming = (frameState?.viewHints[ViewHint.ANIMATING] ?? 0) > 0
    if (isZooming && context !== undefined && 'imageSmoothingEnabled' in context)
      context.imageSmoothingEnabled = false
  })
  const restyle = effect(() => layer.setStyle(style()))
  closing.addEventListener('abort', restyle)
  return layer
}
