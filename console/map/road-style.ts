import type { FeatureLike } from 'ol/Feature.js'
import Stroke from 'ol/style/Stroke.js'
import Style from 'ol/style/Style.js'
import type { Palette } from '../core/palette.ts'
import { isMarked, numberOf, wordOf, labelStyle, withName } from './feature-style.ts'

/** Below the roads are the areas, above them the names. */
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

/** The words of other versions of the schema. */
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
 * The styles of roads and railways: wider the closer one looks, with a casing below, so that
 * crossings stay open; and their names along them.
 */
export function roadStyle(palette: Palette) {
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
      // A bridge covers the roads that it crosses.
      below.setZIndex(isBridge(feature) ? CASINGS + rank - 0.5 : CASINGS)
    }
    const text = zoom >= namedFrom ? wordOf(feature, 'name') : ''
    return [
      ...(isCased ? [below] : []),
      above,
      ...(text === '' ? [] : [withName(name, text, rank)]),
    ]
  }
}

/** Version 3 of the schema has `link`, and `level` for bridges and tunnels. */
function isLink(feature: FeatureLike): boolean {
  return isMarked(feature, 'is_link') || isMarked(feature, 'link')
}

function isBridge(feature: FeatureLike): boolean {
  return isMarked(feature, 'is_bridge') || numberOf(feature, 'level', 0) > 0
}
