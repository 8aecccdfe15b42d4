import type { Feature } from 'geojson'
import { points, makeTileAt } from '../../../console/world/make-tiles.ts'
import { pmtiles } from '../../../console/world/pmtiles.ts'
import { toMercator } from '../../../schemas/geo/mercator.ts'

export type Road = {
  readonly name?: string
  readonly kind?: string
  /** Longitudes and latitudes. */
  readonly path: readonly (readonly [number, number])[]
}

/** In the words of Protomaps' basemap (versions 4 and 3) and of OpenMapTiles. */
const SCHEMAS = {
  protomaps: ['roads', 'kind'],
  'protomaps 3': ['roads', 'pmap:kind'],
  openmaptiles: ['transportation_name', 'class'],
} as const
export type RoadSchema = keyof typeof SCHEMAS

/** A PMTiles file with these roads, in exact tiles of zoom 14 without margins. */
export function streetFile(roads: readonly Road[], schema: RoadSchema = 'protomaps'): Buffer {
  const [layer, kindOf] = SCHEMAS[schema]
  const features = roads.map(({ name, kind = 'minor_road', path }): Feature => {
    const properties = { ...(name !== undefined && { name }), [kindOf]: kind }
    const geometry = { type: 'LineString' as const, coordinates: path.map((one) => [...one]) }
    return { type: 'Feature', properties, geometry }
  })
  const layers = { [layer]: points(features, 14) }
  const corners = roads.flatMap(({ path }) => path.map(([east, north]) => toMercator(east, north)))
  const [xs, ys] = [corners.map(({ x }) => x * 2 ** 14), corners.map(({ y }) => y * 2 ** 14)]
  const tiles = []
  for (let x = Math.floor(Math.min(...xs)); x <= Math.max(...xs); x += 1) {
    for (let y = Math.floor(Math.min(...ys)); y <= Math.max(...ys); y += 1) {
      tiles.push(...makeTileAt(14, x, y, layers))
    }
  }
  return pmtiles({ tiles, minZoom: 14, maxZoom: 14, bounds: [-180, -85, 180, 85], metadata: {} })
}
