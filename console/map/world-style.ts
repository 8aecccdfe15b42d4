import { buffer, containsExtent, type Extent } from 'ol/extent.js'
import type { FeatureLike } from 'ol/Feature.js'
import Circle from 'ol/style/Circle.js'
import Fill from 'ol/style/Fill.js'
import Stroke from 'ol/style/Stroke.js'
import Style from 'ol/style/Style.js'
import type { Palette } from '../core/palette.ts'
import { labelStyle, setName, resolutionToZoom } from './feature-style.ts'

/**
 * The style of the built-in world map: subdued, so that devices stand out; larger places are named
 * first.
 *
 * @param covered where another map has its own names.
 */
export function worldStyle(palette: Palette, covered: Extent | undefined) {
  const { halo } = palette
  const land = new Style({ zIndex: 0, fill: new Fill({ color: palette.land }) })
  const lake = new Style({ zIndex: 1, fill: new Fill({ color: palette.water }) })
  const bed = new Stroke({ color: palette.river })
  const river = new Style({ zIndex: 2, stroke: bed })
  const border = new Style({
    zIndex: 3,
    stroke: new Stroke({ color: palette.border, width: 1, lineDash: [4, 3] }),
  })
  const country = labelStyle('600 12px', { colour: palette.label, halo })
  const town = labelStyle('12px', { colour: palette.label, halo })
  const city = labelStyle('500 13px', { colour: palette.strongLabel, halo })
  const lakeName = labelStyle('italic 12px', { colour: palette.waterLabel, halo })
  const dots = [2, 3, 4].map((radius) => dot(radius, palette))

  // The other map would also cover the end of a name that starts outside.
  const isCovered = (feature: FeatureLike, resolution: number) =>
    covered !== undefined &&
    containsExtent(
      buffer(covered, NAME_PIXELS * resolution),
      feature.getGeometry()?.getExtent() ?? [],
    )

  return (feature: FeatureLike, resolution: number): Style | undefined => {
    switch (feature.get('layer')) {
      case 'land':
        return land
      case 'lakes':
        return lake
      case 'lakeNames':
        if (resolutionToZoom(resolution) < LAKES_FROM || isCovered(feature, resolution))
          return undefined
        return setName(lakeName, String(feature.get('name')), 0)
      case 'rivers': {
        const zoom = resolutionToZoom(resolution)
        if (Number(feature.get('min_zoom')) > zoom + 1) return undefined
        bed.setWidth(Math.max(1, (zoom - 4) / 2))
        return river
      }
      case 'borders':
        return border
      case 'countries': {
        const size = Number(feature.get('size'))
        // The name appears only while it is narrower than the country; once the country fills the
        // view, the name is useless.
        if (
          isCovered(feature, resolution) ||
          resolution < 1_200 ||
          size < (resolution / 1_000) ** 2 * 6
        )
          return undefined
        return setName(
          country,
          String(feature.get('name')).toUpperCase(),
          COUNTRIES_FIRST + step(size),
        )
      }
      case 'towns': {
        const people = Number(feature.get('people'))
        if (people < minimumPopulation(resolution) || isCovered(feature, resolution))
          return undefined
        const style = setName(
          people > 500_000 ? city : town,
          String(feature.get('name')),
          step(people),
        )
        return setDot(
          style,
          resolutionToZoom(resolution) < DOTS_FROM ? undefined : dots[sizeOf(people)],
        )
      }
      default:
        return undefined
    }
  }
}

const NAME_PIXELS = 100
const LAKES_FROM = 7
/** Below this zoom, names are wider than the distance between towns. */
const DOTS_FROM = 6.5

function dot(radius: number, { label: colour, halo }: Palette): Circle {
  const [fill, stroke] = [new Fill({ color: halo }), new Stroke({ color: colour, width: 1.5 })]
  return new Circle({ radius, fill, stroke })
}

/** Index into `dots`: village, town or city. */
function sizeOf(people: number): number {
  return people > 100_000 ? 2 : people > 10_000 ? 1 : 0
}

/** Puts the name beside the dot, or at the dot's position if there is no dot. */
function setDot(style: Style, image: Circle | undefined): Style {
  style.setImage(image as Circle)
  style.getText()?.setTextAlign(image && 'left')
  style.getText()?.setOffsetX(image === undefined ? 0 : image.getRadius() + 4)
  return style
}

/** At zoom 5 towns of 600 000 people, at zoom 8 of 18 000, at zoom 12 all of them. */
function minimumPopulation(resolution: number): number {
  const zoom = resolutionToZoom(resolution)
  return zoom >= 11 ? 0 : 2e8 * 10 ** (-zoom / 2)
}

/** Above the weights of all towns. */
const COUNTRIES_FIRST = 1_000

/**
 * Returns the size step, two per doubling. Names of one step are drawn in the tile's order, the
 * largest first; each additional step costs another pass over all tiles in each frame.
 */
function step(size: number): number {
  return Math.round(2 * Math.log2(Math.max(1, size)))
}
