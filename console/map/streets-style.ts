import type { FeatureLike } from 'ol/Feature.js'
import Fill from 'ol/style/Fill.js'
import Stroke from 'ol/style/Stroke.js'
import Style from 'ol/style/Style.js'
import type { Palette } from '../core/palette.ts'
import { shapeOf, wordOf, zoomAt } from './feature-style.ts'
import { nameStyle } from './name-style.ts'
import { roadStyle } from './road-style.ts'

const GREEN = [
  ...['allotments', 'cemetery', 'forest', 'garden', 'golf_course', 'grass', 'grassland', 'meadow'],
  ...['national_park', 'nature_reserve', 'park', 'pitch', 'playground', 'protected_area', 'scrub'],
  ...['village_green', 'wetland', 'wood', 'zoo'],
]
const BUILT = [
  ...['aerodrome', 'college', 'commercial', 'hospital', 'industrial', 'military', 'pedestrian'],
  ...['railway', 'residential', 'runway', 'school', 'taxiway', 'university', 'urban_area'],
]

const BUILDINGS_FROM = 14.5

/**
 * The style of a map in Protomaps' basemap schema, version 3 or 4, in the colours of our own map
 * of the world. See https://docs.protomaps.com/basemaps/layers
 *
 * @param language of the names of places, as `de`.
 */
export function streetsStyle(palette: Palette, language: string) {
  const area = (zIndex: number, color: string) => new Style({ zIndex, fill: new Fill({ color }) })
  const line = (zIndex: number, color: string, lineDash: number[] | null = null) =>
    new Style({ zIndex, stroke: new Stroke({ color, width: 1, ...(lineDash && { lineDash }) }) })
  const earth = area(0, palette.land)
  const built = area(1, palette.built)
  const green = area(2, palette.green)
  const water = area(3, palette.water)
  const stream = line(3, palette.river)
  const building = new Style({
    zIndex: 4,
    fill: new Fill({ color: palette.building }),
    stroke: new Stroke({ color: palette.casing, width: 0.6 }),
  })
  const border = line(5, palette.border, [4, 3])
  const road = roadStyle(palette)
  const name = nameStyle(palette, language)

  return (feature: FeatureLike, resolution: number): Style | Style[] | undefined => {
    const zoom = zoomAt(resolution)
    const shape = shapeOf(feature)
    if (shape === 'point') return name(feature, zoom)
    switch (feature.get('layer')) {
      case 'earth':
        return earth
      case 'landcover':
      case 'landuse': {
        const kind = wordOf(feature, 'kind')
        return GREEN.includes(kind) ? green : BUILT.includes(kind) ? built : undefined
      }
      case 'water':
        return shape === 'area' ? water : stream
      case 'buildings':
        return zoom >= BUILDINGS_FROM ? building : undefined
      case 'boundaries':
        return border
      case 'roads':
      case 'transit':
        return shape === 'line' ? road(feature, zoom) : undefined
      default:
        return undefined
    }
  }
}
