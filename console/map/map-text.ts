import Fill from 'ol/style/Fill.js'
import Stroke from 'ol/style/Stroke.js'
import Style from 'ol/style/Style.js'
import Text from 'ol/style/Text.js'

const FONT = 'system-ui, sans-serif'

/** The style of names: `font` is its weight and size. */
export function label(
  font: string,
  { colour, halo, along = false }: { colour: string; halo: string; along?: boolean },
): Style {
  return new Style({
    text: new Text({
      font: `${font} ${FONT}`,
      fill: new Fill({ color: colour }),
      stroke: new Stroke({ color: halo, width: 3 }),
      // A name along a line that is shorter than itself would run out of its bends.
      ...(along ? { placement: 'line', maxAngle: 0.6 } : { overflow: true }),
    }),
  })
}

/**
 * The style with this name; of overlapping names the one with the greatest weight is drawn.
 * OpenLayers uses one style after the other, so one object of a kind is enough.
 */
export function named(style: Style, name: string, weight: number): Style {
  style.getText()?.setText(name)
  style.setZIndex(weight)
  return style
}

/** The zoom level of a map with this number of metres per pixel. */
export function zoomAt(resolution: number): number {
  return Math.log2(156_543.03392804097 / resolution)
}
