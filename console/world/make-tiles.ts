import {
  countriesAt,
  countryNames,
  lakeNames,
  lakes,
  land,
  rivers,
  towns,
  type Scale,
} from './sources.ts'
import type { Tile, TileSet } from './pmtiles.ts'
import { lines, points, tilesAt, type Layers } from './vector-tiles.ts'

const MAX_ZOOM = 7

/** The scale for each zoom: up to that zoom the next finer scale would show no difference. */
const SCALES: readonly Scale[] = ['110m', '110m', '50m', '50m', '50m', '10m', '10m', '10m']

/** The smallest town that each zoom shows, in people; the console leaves out overlapping names. */
const PEOPLE = [8e6, 4e6, 2e6, 8e5, 3e5, 1e5, 3e4, 0]

/** The whole world as vector tiles, zoom 0 to 7. Tiles that contain only sea are left out. */
export function makeTiles(): TileSet {
  const tiles: Tile[] = []
  const water = {
    lakes: lines(lakes().features, MAX_ZOOM),
    rivers: lines(rivers().features, MAX_ZOOM),
    lakeNames: points(lakeNames(), MAX_ZOOM),
  }
  const places = { towns: towns() }
  for (const scale of new Set(SCALES)) {
    const { areas, borders } = countriesAt(scale)
    const layers: Layers = {
      land: lines(land(areas), MAX_ZOOM),
      borders: lines([{ type: 'Feature', properties: {}, geometry: borders }], MAX_ZOOM),
      countries: points(countryNames(areas), MAX_ZOOM),
    }
    for (const [z, its] of SCALES.entries()) {
      if (its !== scale) continue
      const [fewest = 0] = PEOPLE.slice(z)
      const shown = places.towns.filter(({ properties: { people, capital } }) => {
        return people >= fewest || (capital && z >= 3)
      })
      tiles.push(...tilesAt(z, { ...layers, ...(z >= 2 && water), towns: points(shown, MAX_ZOOM) }))
    }
  }
  const bounds = [-180, -85, 180, 85] as const
  return { tiles, minZoom: 0, maxZoom: MAX_ZOOM, bounds, metadata: METADATA }
}

const METADATA = {
  name: 'World',
  attribution: 'Natural Earth; GeoNames (CC BY 4.0)',
  vector_layers: [
    { id: 'land', fields: {} },
    { id: 'borders', fields: {} },
    { id: 'lakes', fields: {} },
    { id: 'rivers', fields: { min_zoom: 'Number' } },
    { id: 'lakeNames', fields: { name: 'String' } },
    { id: 'countries', fields: { name: 'String', size: 'Number' } },
    { id: 'towns', fields: { name: 'String', people: 'Number', capital: 'Boolean' } },
  ],
}
