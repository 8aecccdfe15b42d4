import type { Feature, Geometry } from 'geojson'
import GeoJSONVT from 'geojson-vt'
import vtPbf from 'vt-pbf'
import { countriesAt, countryNames, lakes, land, rivers, towns, type Scale } from './sources.ts'
import type { Tile, TileSet } from './pmtiles.ts'

const MAX_ZOOM = 7
const EXTENT = 4096

/** The scale for each zoom: up to that zoom the next finer scale would show no difference. */
const SCALES: readonly Scale[] = ['110m', '110m', '50m', '50m', '50m', '10m', '10m', '10m']

/** The smallest town that each zoom shows, in people; the console leaves out overlapping names. */
const PEOPLE = [8e6, 4e6, 2e6, 8e5, 3e5, 1e5, 3e4, 0]

type Layers = Readonly<Record<string, GeoJSONVT>>

/** The whole world as vector tiles, zoom 0 to 7. Tiles that contain only sea are left out. */
export function makeTiles(): TileSet {
  const tiles: Tile[] = []
  const water = { lakes: lines(lakes().features), rivers: lines(rivers().features) }
  const places = { towns: towns() }
  for (const scale of new Set(SCALES)) {
    const { areas, borders } = countriesAt(scale)
    const layers: Layers = {
      land: lines(land(areas)),
      borders: lines([{ type: 'Feature', properties: {}, geometry: borders }]),
      countries: points(countryNames(areas)),
    }
    for (const [z, its] of SCALES.entries()) {
      if (its !== scale) continue
      const [fewest = 0] = PEOPLE.slice(z)
      const shown = places.towns.filter(({ properties: { people, capital } }) => {
        return people >= fewest || (capital && z >= 3)
      })
      tiles.push(...tilesAt(z, { ...layers, ...(z >= 2 && water), ...{ towns: points(shown) } }))
    }
  }
  return { tiles, minZoom: 0, maxZoom: MAX_ZOOM, metadata: METADATA }
}

const METADATA = {
  name: 'World',
  attribution: 'Natural Earth; GeoNames (CC BY 4.0)',
  vector_layers: [
    { id: 'land', fields: {} },
    { id: 'borders', fields: {} },
    { id: 'lakes', fields: {} },
    { id: 'rivers', fields: {} },
    { id: 'countries', fields: { name: 'String', size: 'Number' } },
    { id: 'towns', fields: { name: 'String', people: 'Number', capital: 'Boolean' } },
  ],
}

function tilesAt(z: number, layers: Layers): Tile[] {
  const tiles: Tile[] = []
  for (let x = 0; x < 2 ** z; x += 1) {
    for (let y = 0; y < 2 ** z; y += 1) {
      const parts = Object.entries(layers).flatMap(([name, layer]) => {
        const tile = layer.getTile(z, x, y)
        return tile === null || tile.features.length === 0 ? [] : [[name, tile] as const]
      })
      if (parts.length === 0) continue
      const data = vtPbf.fromGeojsonVt(Object.fromEntries(parts), { version: 2, extent: EXTENT })
      tiles.push({ z, x, y, data })
    }
  }
  return tiles
}

function lines(features: readonly Feature[]): GeoJSONVT {
  return index(features, { tolerance: 4, buffer: 64 })
}

/** A name may extend into the tiles around it, but is drawn from its own. */
function points(features: readonly Feature<Geometry>[]): GeoJSONVT {
  return index(features, { tolerance: 0, buffer: 0 })
}

function index(
  features: readonly Feature[],
  options: { readonly tolerance: number; readonly buffer: number },
): GeoJSONVT {
  const collection = { type: 'FeatureCollection' as const, features: [...features] }
  return new GeoJSONVT(collection, {
    ...{ maxZoom: MAX_ZOOM, indexMaxZoom: 4, indexMaxPoints: 0, extent: EXTENT },
    ...options,
  })
}
