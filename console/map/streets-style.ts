import type { FeatureLike } from 'ol/Feature.js'
import Fill from 'ol/style/Fill.js'
import Stroke from 'ol/style/Stroke.js'
import Style from 'ol/style/Style.js'
import type { Palette } from '../core/palette.ts'
import {
  shapeOf,
  wordOf,
  resolutionToZoom,
  numberOf,
  labelStyle,
  setName,
  isMarked,
} from './feature-style.ts'

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
 * The style of a map in Protomaps' basemap schema, version 3 or 4, in the colours of our own world
 * map. See https://docs.protomaps.com/basemaps/layers
 *
 * @param language of place names, such as `de`.
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
    const zoom = resolutionToZoom(resolution)
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

/** Weights of names: above those of roads, by layer and kind, and then by size. */
const WEIGHTS = { country: 60, region: 40, town: 20, quarter: 15, water: 12, place: 1, house: 0 }

const CITY = 11
const PLACES_FROM = 16
const HOUSES_FROM = 18

/**
 * Point names in Protomaps' schema: places, water, sights and houses; in the operator's language
 * (`de`) if the map has it.
 */
function nameStyle(palette: Palette, language: string) {
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
        return text === '' || zoom < from ? undefined : setName(water, text, WEIGHTS.water)
      case 'pois':
        return text === '' || zoom < Math.max(from + 1, PLACES_FROM)
          ? undefined
          : setName(small, text, WEIGHTS.place)
      case 'buildings': {
        const number = wordOf(feature, 'addr_housenumber')
        return number === '' || zoom < HOUSES_FROM
          ? undefined
          : setName(small, number, WEIGHTS.house)
      }
      default:
        return undefined
    }
  }

  function place(feature: FeatureLike, zoom: number, text: string): Style | undefined {
    const rank = numberOf(feature, 'population_rank', 0)
    switch (wordOf(feature, 'kind')) {
      case 'country':
        return zoom > 8 ? undefined : setName(country, text.toUpperCase(), WEIGHTS.country + rank)
      case 'region':
        return zoom < 6 || zoom > 11 ? undefined : setName(country, text, WEIGHTS.region)
      case 'locality':
        return zoom > 16
          ? undefined
          : setName(rank >= CITY ? city : town, text, WEIGHTS.town + rank)
      case 'macrohood':
      case 'neighbourhood':
        return zoom < 13 ? undefined : setName(quarter, text, WEIGHTS.quarter)
      default:
        return undefined
    }
  }
}

/** Areas are below the roads, names above them. */
const CASINGS = 10

/**
 * By kind: the width in pixels at zoom 16, the zooms from which a road is drawn and named, and its
 * rank in drawing order.
 */
const ROADS = {
  highway: { width: 9, from: 5, namedFrom: 13, rank: 4, colour: 'highway' },
  major_road: { width: 7.5, from: 7, namedFrom: 14, rank: 3, colour: 'road' },
  minor_road: { width: 5, from: 12, namedFrom: 16, rank: 2, colour: 'street' },
  path: { width: 1.3, from: 15, namedFrom: 17, rank: 1, colour: 'rail' },
  rail: { width: 1.6, from: 9, namedFrom: 99, rank: 5, colour: 'rail' },
} as const

type RoadKind = keyof typeof ROADS

/** Other schema versions' terms. */
const OTHER_WORDS = new Map<string, RoadKind>([
  ['medium_road', 'major_road'],
  ['other', 'path'],
  ['light_rail', 'rail'],
  ['tram', 'rail'],
])

/** Fractions of the width, by OpenStreetMap's class of the road. */
const PARTS = new Map([
  ['secondary', 0.85],
  ['tertiary', 0.75],
  ['service', 0.5],
])

/**
 * The styles of roads and railways: wider at closer zooms, with a casing below, so that crossings
 * stay open; and the names along them.
 */
function roadStyle(palette: Palette) {
  const casing = new Stroke({ color: palette.casing, lineCap: 'round', lineJoin: 'round' })
  const below = new Style({ stroke: casing })
  const fill = new Stroke({ lineCap: 'round', lineJoin: 'round' })
  const above = new Style({ stroke: fill })
  const name = labelStyle('11px', { colour: palette.strongLabel, halo: palette.halo, along: true })

  return (feature: FeatureLike, zoom: number): Style[] => {
    const word = wordOf(feature, 'kind')
    const kind = Object.hasOwn(ROADS, word) ? (word as RoadKind) : OTHER_WORDS.get(word)
    if (kind === undefined) return []
    const { width, from, namedFrom, rank, colour } = ROADS[kind]
    if (zoom < from) return []
    const part = isLink(feature) ? 0.6 : (PARTS.get(wordOf(feature, 'kind_detail')) ?? 1)
    const across = Math.max(0.6, width * part * 1.45 ** (zoom - 16))
    fill.setColor(palette[colour])
    fill.setWidth(across)
    fill.setLineDash(kind === 'path' ? [4, 4] : null)
    above.setZIndex(CASINGS + rank)
    const isCased = kind !== 'path' && kind !== 'rail'
    if (isCased) {
      casing.setWidth(across + (across > 3 ? 2 : 1.2))
      // A bridge covers the roads it crosses.
      below.setZIndex(isBridge(feature) ? CASINGS + rank - 0.5 : CASINGS)
    }
    const text = zoom >= namedFrom ? wordOf(feature, 'name') : ''
    return [...(isCased ? [below] : []), above, ...(text === '' ? [] : [setName(name, text, rank)])]
  }
}

/** Version 3 of the schema has `link`, and `level` for bridges and tunnels. */
function isLink(feature: FeatureLike): boolean {
  return isMarked(feature, 'is_link') || isMarked(feature, 'link')
}

function isBridge(feature: FeatureLike): boolean {
  return isMarked(feature, 'is_bridge') || numberOf(feature, 'level', 0) > 0
}
