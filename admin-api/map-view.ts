import { objectOf } from '../runtime/openapi/json-schema.ts'
import type { MapConfig } from '../runtime/config/console-variables.ts'
import type { JsonSchema } from './http/admin-route.ts'

/** The path of a PMTiles file that the service itself provides, by its place among the maps. */
export function mapFilePath(place: number): string {
  return `/map/own-${place}.pmtiles`
}

/** A map as the pages see it: without its place among the files of this machine. */
export function mapView(map: MapConfig, place: number) {
  const { name, kind, attribution = null, maxZoom = null, seenBy = null } = map
  return {
    name,
    kind: kind === 'tiles' ? kind : 'pmtiles',
    url: kind === 'pmtiles file' ? mapFilePath(place) : map.url,
    attribution,
    maxZoom,
    seenBy,
  }
}

export const MAPS: JsonSchema = {
  type: 'array',
  description:
    'Maps to choose from besides the console’s own base map; the first is shown to a new operator, unless it has `seenBy`',
  items: objectOf(
    {
      name: { type: 'string', description: 'Plain text' },
      kind: { enum: ['tiles', 'pmtiles'], description: 'Raster tiles, or a PMTiles file' },
      url: {
        type: 'string',
        description: 'For tiles it has `{z}`, `{x}` and `{y}`; a path belongs to this API',
      },
      attribution: { type: ['string', 'null'], description: 'Plain text' },
      maxZoom: { type: ['integer', 'null'], description: 'Null: as the map itself says' },
      seenBy: {
        type: ['string', 'null'],
        description:
          'The third party that sees which area somebody looks at; such a map is loaded only once they have chosen it',
      },
    },
    { title: 'ConsoleMap' },
  ),
}
