import type { Feature } from 'geojson'
import GeoJSONVT from 'geojson-vt'
import vtPbf from 'vt-pbf'
import type { Tile } from './pmtiles.ts'

/** The layers of a map by name. */
export type Layers = Readonly<Record<string, GeoJSONVT>>

const EXTENT = 4096

type Options = { readonly maxZoom: number; readonly tolerance: number; readonly buffer: number }

/** Lines and areas, which reach a little into the tiles around their own so that strokes meet. */
export function lines(features: readonly Feature[], maxZoom: number): GeoJSONVT {
  return index(features, { maxZoom, tolerance: 4, buffer: 64 })
}

/** A name may extend into the tiles around it, but is drawn from its own. */
export function points(features: readonly Feature[], maxZoom: number): GeoJSONVT {
  return index(features, { maxZoom, tolerance: 0, buffer: 0 })
}

/** The tiles of a zoom level that have something of at least one layer. */
export function tilesAt(z: number, layers: Layers): Tile[] {
  const tiles: Tile[] = []
  for (let x = 0; x < 2 ** z; x += 1) {
    for (let y = 0; y < 2 ** z; y += 1) tiles.push(...tileAt(z, x, y, layers))
  }
  return tiles
}

/** The tile in Mapbox's format; none if it would be empty. */
export function tileAt(z: number, x: number, y: number, layers: Layers): Tile[] {
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
