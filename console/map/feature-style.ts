import Fill from 'ol/style/Fill.js'
import Stroke from 'ol/style/Stroke.js'
import Style from 'ol/style/Style.js'
import Text from 'ol/style/Text.js'
import type { FeatureLike } from 'ol/Feature.js'

const FONT = 'system-ui, sans-serif'

/** The style of names: `font` is its weight and size. */
export function labelStyle(
  font: string,
  { colour, halo, along = false }: { colour: string; halo: string; along?: boolean },
): Style {
  return new Style({
    text: new Text({
      font: `${font} ${FONT}`,
      fill: new Fill({ color: colour }),
      stroke: new Stroke({ color: halo, width: 3 }),
      // With `overflow`, a name longer than its line would run straight on past its bends.
      ...(along ? { placement: 'line', maxAngle: 0.6 } : { overflow: true }),
    }),
  })
}

/**
 * Sets the name of a style; of overlapping names, the one with the greatest weight is drawn.
 * OpenLayers uses each style before it asks for the next, so one object can serve all features of a
 * kind.
 */
export function setName(style: Style, name: string, weight: number): Style {
  style.getText()?.setText(name)
  style.setZIndex(weight)
  return style
}

/** The zoom level of a map with this number of metres per pixel. */
export function resolutionToZoom(resolution: number): number {
  return Math.log2(156_543.03392804097 / resolution)
}

/** Reads a text property of Protomaps' schema; empty if missing. */
export function wordOf(feature: FeatureLike, name: string): string {
  const value = valueOf(feature, name)
  return typeof value === 'string' ? value : ''
}

/** Reads a numeric property of Protomaps' schema; `otherwise` if missing. */
export function numberOf(feature: FeatureLike, name: string, otherwise: number): number {
  const value = valueOf(feature, name)
  return typeof value === 'number' ? value : otherwise
}

/** Whether a flag of Protomaps' schema is set: true, or a number other than 0. */
export function isMarked(feature: FeatureLike, name: string): boolean {
  return Boolean(valueOf(feature, name))
}

export function shapeOf(feature: FeatureLike): 'area' | 'line' | 'point' {
  const type = feature.getGeometry()?.getType() ?? ''
  return type.endsWith('Polygon') ? 'area' : type.endsWith('LineString') ? 'line' : 'point'
}

/** Version 3 of the schema prefixes all of its properties except names with `pmap:`. */
function valueOf(feature: FeatureLike, name: string): unknown {
  return feature.get(name) ?? feature.get(`pmap:${name}`)
}
