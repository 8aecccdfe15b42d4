import type { FeatureLike } from 'ol/Feature.js'
import Fill from 'ol/style/Fill.js'
import Stroke from 'ol/style/Stroke.js'
import Style from 'ol/style/Style.js'
import Text from 'ol/style/Text.js'
import type { Palette } from '../ui/palette.ts'

const FONT = 'system-ui, sans-serif'

/**
 * The style of a vector map: quiet, so that devices stand out; larger places are named first. It
 * knows the layers of our own world and those of the Protomaps schema.
 */
export function worldStyle(palette: Palette) {
  const land = new Style({ zIndex: 0, fill: new Fill({ color: palette.land }) })
  const lake = new Style({ zIndex: 1, fill: new Fill({ color: palette.water }) })
  const river = new Style({ zIndex: 2, stroke: new Stroke({ color: palette.river, width: 1 }) })
  const border = new Style({
    zIndex: 3,
    stroke: new Stroke({ color: palette.border, width: 1, lineDash: [4, 3] }),
  })
  const street = new Style({ zIndex: 4, stroke: new Stroke({ color: palette.street, width: 1.5 }) })
  const road = new Style({ zIndex: 5, stroke: new Stroke({ color: palette.road, width: 2.5 }) })
  const country = label(`600 12px ${FONT}`, palette.label, palette.halo)
  const town = label(`12px ${FONT}`, palette.label, palette.halo)
  const city = label(`500 13px ${FONT}`, palette.strongLabel, palette.halo)

  return (feature: FeatureLike, resolution: number): Style | undefined => {
    switch (feature.get('layer')) {
      case 'land':
      case 'earth':
        return land
      case 'lakes':
        return lake
      case 'water':
        return feature.getGeometry()?.getType().includes('Polygon') === true ? lake : river
      case 'rivers':
        return Number(feature.get('min_zoom')) <= zoomAt(resolution) + 1 ? river : undefined
      case 'borders':
      case 'boundaries':
        return border
      case 'roads':
        return feature.get('kind') === 'highway' || feature.get('kind') === 'major_road'
          ? road
          : street
      case 'places':
        return named(town, String(feature.get('name') ?? ''), -Number(feature.get('min_zoom') ?? 0))
      case 'countries': {
        const size = Number(feature.get('size'))
        // The name appears only where it is narrower than the country; once the country fills the
        // view, the name is of no use.
        if (resolution < 1_200 || size < (resolution / 1_000) ** 2 * 6) return undefined
        return named(
          country,
          String(feature.get('name')).toUpperCase(),
          COUNTRIES_FIRST + step(size),
        )
      }
      case 'towns': {
        const people = Number(feature.get('people'))
        if (people < leastPeople(resolution)) return undefined
        return named(people > 500_000 ? city : town, String(feature.get('name')), step(people))
      }
      default:
        return undefined
    }
  }
}

function zoomAt(resolution: number): number {
  return Math.log2(156_543.03392804097 / resolution)
}

/** At zoom 5 towns of 600 000 people, at zoom 8 of 18 000, at zoom 12 all of them. */
function leastPeople(resolution: number): number {
  const zoom = zoomAt(resolution)
  return zoom >= 11 ? 0 : 2e8 * 10 ** (-zoom / 2)
}

function label(font: string, colour: string, halo: string): Style {
  return new Style({
    text: new Text({
      font,
      fill: new Fill({ color: colour }),
      stroke: new Stroke({ color: halo, width: 3 }),
      overflow: true,
    }),
  })
}

/** Above the weights of all towns. */
const COUNTRIES_FIRST = 1_000

/**
 * Two steps for each doubling. Names of one step are drawn in the order of the tile, the largest
 * first; each further step is another pass over all tiles in each frame.
 */
function step(size: number): number {
  return Math.round(2 * Math.log2(Math.max(1, size)))
}

/** OpenLayers uses one style after the other, so one object of a kind is enough. */
function named(style: Style, name: string, weight: number): Style {
  style.getText()?.setText(name)
  style.setZIndex(weight)
  return style
}
