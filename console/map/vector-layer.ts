import { effect } from '@preact/signals'
import VectorTileLayer from 'ol/layer/VectorTile.js'
import type { Options } from 'ol/layer/VectorTile.js'
import type Style from 'ol/style/Style.js'
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
    areNamesAbove = false,
    ...options
  }: Pick<Options, 'zIndex' | 'extent' | 'minZoom'> & {
    closing: AbortSignal
    maxZoom?: number
    /** Whether the names are in a separate layer: see `namesOf`. */
    areNamesAbove?: boolean | undefined
  },
): VectorTileLayer {
  const layer = new VectorTileLayer({
    ...options,
    declutter: VECTOR_NAMES,
    source: new PMTilesVectorSource({
      // The library accepts either, but its type requires both.
      url: file as Archive & string,
      ...(maxZoom !== undefined && { maxZoom }),
    }),
  })
  // During a zoom the difference is invisible, and without a GPU smoothing takes a third of each
  // frame.
  layer.on('prerender', ({ context, frameState }) => {
    const isZooming = (frameState?.viewHints[ViewHint.ANIMATING] ?? 0) > 0
    if (isZooming && context !== undefined && 'imageSmoothingEnabled' in context)
      context.imageSmoothingEnabled = false
  })
  const restyle = effect(() =>
    layer.setStyle(areNamesAbove ? partOf(style(), { isNames: false }) : style()),
  )
  closing.addEventListener('abort', restyle)
  return layer
}

/** Above anything drawn over a map's shapes. */
export const ABOVE_TRACKS = 3

/** The names of a vector map as a separate layer, on another canvas. */
export function namesOf(
  shapes: VectorTileLayer,
  style: () => StyleFunction,
  closing: AbortSignal,
): VectorTileLayer {
  const names = new VectorTileLayer({
    className: 'map-names',
    zIndex: ABOVE_TRACKS,
    declutter: VECTOR_NAMES,
    source: shapes.getSource() as PMTilesVectorSource,
    minZoom: shapes.getMinZoom(),
  })
  const extent = shapes.getExtent()
  if (extent !== undefined) names.setExtent(extent)
  shapes.on('change:visible', () => names.setVisible(shapes.getVisible()))
  const restyle = effect(() => names.setStyle(partOf(style(), { isNames: true })))
  closing.addEventListener('abort', restyle)
  return names
}

/** The styles with a text, or all others. */
function partOf(style: StyleFunction, { isNames }: { isNames: boolean }): StyleFunction {
  const isPart = (one: Style) => (one.getText() !== null) === isNames
  return (feature, resolution) => {
    const all = style(feature, resolution)
    if (Array.isArray(all)) return all.filter(isPart)
    return all && isPart(all) ? all : undefined
  }
}
