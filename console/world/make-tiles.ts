import type { Feature } from 'geojson'
import GeoJSONVT from 'geojson-vt'
import vtPbf from 'vt-pbf'
import {
  readCountriesAt,
  countryNames,
  lakeNames,
  lakes,
  land,
  rivers,
  towns,
  type Scale,
} from './sources.ts'
import type { Tile, TileSet } from './pmtiles.ts'

const MAX_ZOOM = 7

/** The scale for each zoom: up to that zoom the next finer scale would make no difference. */
const SCALES: readonly Scale[] = ['110m', '110m', '50m', '50m', '50m', '10m', '10m', '10m']

/** The smallest town that each zoom shows, in people; the console omits overlapping names. */
const PEOPLE = [8e6, 4e6, 2e6, 8e5, 3e5, 1e5, 3e4, 0]

/** The whole world as vector tiles, zoom 0 to 7. Tiles that contain only sea are omitted. */
export function makeTiles(): TileSet {
  const tiles: Tile[] = []
  const water = {
    lakes: lines(lakes().features, MAX_ZOOM),
    rivers: lines(rivers().features, MAX_ZOOM),
    lakeNames: points(lakeNames(), MAX_ZOOM),
  }
  const places = { towns: towns() }
  for (const scale of new Set(SCALES)) {
    const { areas, borders } = readCountriesAt(scale)
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
      tiles.push(
        ...makeTilesAt(z, { ...layers, ...(z >= 2 && water), towns: points(shown, MAX_ZOOM) }),
      )
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

/** The layers of a map by name. */
export type Layers = Readonly<Record<string, GeoJSONVT>>

const EXTENT = 4096

type Options = { readonly maxZoom: number; readonly tolerance: number; readonly buffer: number }

/** Lines and areas, which extend slightly into the neighbouring tiles so that strokes meet. */
export function lines(features: readonly Feature[], maxZoom: number): GeoJSONVT {
  return index(features, { maxZoom, tolerance: 4, buffer: 64 })
}

/** Points with names: a name may extend into neighbouring tiles, but only one tile contains it. */
export function points(features: readonly Feature[], maxZoom: number): GeoJSONVT {
  return index(features, { maxZoom, tolerance: 0, buffer: 0 })
}

/** The tiles of a zoom level with content from at least one layer. */
function makeTilesAt(z: number, layers: Layers): Tile[] {
  const tiles: Tile[] = []
  for (let x = 0; x < 2 ** z; x += 1) {
    for (let y = 0; y < 2 ** z; y += 1) tiles.push(...makeTileAt(z, x, y, layers))
  }
  return tiles
}

/** Encodes the tile in Mapbox's format; returns an empty list for an empty tile. */
export function makeTileAt(z: number, x: number, y: number, layers: Layers): Tile[] {
  const parts = Object.entries(layers).flatMap(([name, layer]) => {
    const tile = layer.getTile(z, x, y)
    return tile === null || tile.features.length === 0 ? [] : [[name, tile] as const]
  })
  if (parts.length === 0) return []
  const data = vtPbf.fromGeojsonVt(Object.fromEntries(parts), { version: 2, extent: EXTENT })
  return [{ z, x, y, data }]
}

function index(features: readonly Feature[], options: Options): GeoJSONVT {
  const collection = { type: 'FeatureCollection' as const, features: [...features] }
  return new GeoJSONVT(collection, {
    indexMaxZoom: 4,
    indexMaxPoints: 0,
    extent: EXTENT,
    ...options,
  })
}
