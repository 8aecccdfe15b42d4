import type { MapConfig } from '../runtime/config/console-variables.ts'
import { succeed } from '../runtime/http/http.ts'
import type { AdminContext, AdminRoute, JsonSchema } from './http/admin-route.ts'
import { isLoopback, type IngestAddresses } from './ingest-addresses.ts'
import { objectOf } from '../runtime/openapi/json-schema.ts'

/** The service settings that the console's pages need. */
export function consoleRoutes({
  ingest,
  maps,
  consolePublicUrl,
}: {
  ingest: IngestAddresses
  maps: readonly MapConfig[]
  consolePublicUrl: string | undefined
}): AdminRoute[] {
  async function show(ctx: AdminContext): Promise<void> {
    const ingestUrl = ingest.forSenders(ctx.hostname)
    succeed(ctx, {
      ingestUrl: ingestUrl ?? null,
      loopback: ingestUrl !== undefined && isLoopback(ingestUrl),
      consoleUrl: consolePublicUrl ?? null,
      maps: maps.map(mapView),
    })
  }

  return [
    {
      method: 'GET',
      path: '/console',
      summary: 'The address devices report to, and the maps offered',
      needs: 'viewer',
      answer: { data: CONSOLE },
      handle: show,
    },
  ]
}

/** The path of a PMTiles file that the service itself provides, by its index among the maps. */
export function mapFilePath(place: number): string {
  return `/map/own-${place}.pmtiles`
}

/** A map as sent to the pages: without its path on this machine. */
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
    'Maps to choose from besides the console’s base map; the first is shown to a new operator, unless it has `seenBy`',
  items: objectOf(
    {
      name: { type: 'string', description: 'Plain text' },
      kind: { enum: ['tiles', 'pmtiles'], description: 'Raster tiles, or a PMTiles file' },
      url: {
        type: 'string',
        description: 'For tiles it has `{z}`, `{x}` and `{y}`; a path belongs to this API',
      },
      attribution: { type: ['string', 'null'], description: 'Plain text' },
      maxZoom: { type: ['integer', 'null'], description: 'Null: stated by the map itself' },
      seenBy: {
        type: ['string', 'null'],
        description:
          'The third party that sees which area somebody views; such a map loads only once they choose it',
      },
    },
    { title: 'ConsoleMap' },
  ),
}

const CONSOLE: JsonSchema = objectOf(
  {
    ingestUrl: {
      type: ['string', 'null'],
      description:
        'The ingest API’s address for devices, before `/api/v1/gps/submit`. Null if unknown: set INGEST_PUBLIC_URL',
    },
    loopback: { type: 'boolean', description: 'Only programs on the same machine can reach it' },
    consoleUrl: {
      type: ['string', 'null'],
      description:
        'The console’s address for browsers, with which links start; null: CONSOLE_PUBLIC_URL is not set',
    },
    maps: MAPS,
  },
  { title: 'Console' },
)
