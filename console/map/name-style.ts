import type { FeatureLike } from 'ol/Feature.js'
import type Style from 'ol/style/Style.js'
import type { Palette } from '../core/palette.ts'
import { numberOf, wordOf, labelStyle, withName } from './feature-style.ts'

/** Weights of names: above those of roads, by layer and kind, and then by size. */
const WEIGHTS = { country: 60, region: 40, town: 20, quarter: 15, water: 12, place: 1, house: 0 }

const CITY = 11
const PLACES_FROM = 16
const HOUSES_FROM = 18

/**
 * The names of points in Protomaps' schema: of places, water, sights and houses; in the operator's
 * language (`de`) where the map knows it.
 */
export function nameStyle(palette: Palette, language: string) {
  const { halo } = palette
  const country = labelStyle('600 12px', { colour: palette.label, halo })
  const town = labelStyle('500 13px', { colour: palette.strongLabel, halo })
  const city = labelStyle('600 15px', { colour: palette.strongLabel, halo })
  const quarter = labelStyle('500 12px', { colour: palette.label, halo })
  const water = labelStyle('italic 12px', { colour: palette.waterLabel, halo })
  const small = labelStyle('11px', { colour: palette.label, halo })

  return (feature: FeatureLike, zoom: number): Style | undefined => {
    const from = numberOf(feature, 'min_zoom', 0)
    const text = wordOf(feature, `name:${language}`) || wordOf(feature, 'name')
    switch (feature.get('layer')) {
      case 'places':
        // The schema's zoom levels refer to tiles twice as wide.
        return text === '' || zoom + 1 < from ? undefined : place(feature, zoom, text)
      case 'water':
        return text === '' || zoom < from ? undefined : withName(water, text, WEIGHTS.water)
      case 'pois':
        return text === '' || zoom < Math.max(from + 1, PLACES_FROM)
          ? undefined
          : withName(small, text, WEIGHTS.place)
      case 'buildings': {
        const number = wordOf(feature, 'addr_housenumber')
        return number === '' || zoom < HOUSES_FROM
          ? undefined
          : withName(small, number, WEIGHTS.house)
      }
      default:
        return undefined
    }
  }

  function place(feature: FeatureLike, zoom: number, text: string): Style | undefined {
    const rank = numberOf(feature, 'population_rank', 0)
    switch (wordOf(feature, 'kind')) {
      case 'country':
        return zoom > 8 ? undefined : withName(country, text.toUpperCase(), WEIGHTS.country + rank)
      case 'region':
        return zoom < 6 || zoom > 11 ? undefined : withName(country, text, WEIGHTS.region)
      case 'locality':
        return zoom > 16
          ? undefined
          : withName(rank >= CITY ? city : town, text, WEIGHTS.town + rank)
      case 'macrohood':
      case 'neighbourhood':
        return zoom < 13 ? undefined : withName(quarter, text, WEIGHTS.quarter)
      default:
        return undefined
    }
  }
}
