import type { MapConfig } from '../runtime/config/console-variables.ts'
import { succeed } from '../runtime/http.ts'
import type { AdminContext, AdminRoute, JsonSchema } from './http/admin-route.ts'
import { isLoopback, type IngestAddresses } from './ingest-addresses.ts'

/** The path of the PMTiles file that the service itself provides. */
export const MAP_FILE_PATH = '/map.pmtiles'

/** The service settings that the console's pages need. */
export function consoleRoutes({
  ingest,
  map,
}: {
  ingest: IngestAddresses
  map?: MapConfig | undefined
}): AdminRoute[] {
  async function show(ctx: AdminContext): Promise<void> {
    const ingestUrl = ingest.forSenders(ctx.hostname)
    succeed(ctx, {
      ingestUrl: ingestUrl ?? null,
      loopback: ingestUrl !== undefined && isLoopback(ingestUrl),
      map: map === undefined ? null : mapView(map),
    })
  }

  return [
    {
      method: 'GET',
      path: '/console',
      summary: 'Where devices report to, and which map is shown',
      needs: 'viewer',
      answer: { data: CONSOLE },
      handle: show,
    },
  ]
}

function mapView(map: MapConfig) {
  const { kind, attribution = null, maxZoom = null } = map
  return {
    kind: kind === 'tiles' ? kind : 'pmtiles',
    url: kind === 'pmtiles file' ? MAP_FILE_PATH : map.url,
    attribution,
    maxZoom,
  }
}

const CONSOLE: JsonSchema = {
  title: 'Console',
  type: 'object',
  required: ['ingestUrl', 'loopback', 'map'],
  properties: {
    ingestUrl: {
      type: ['string', 'null'],
      description:
        'Where devices reach the ingest API: `/api/v1/gps/submit` follows. Null where it is not known: INGEST_PUBLIC_URL says it',
    },
    loopback: { type: 'boolean', description: 'Only programs on the same machine reach it' },
    map: {
      title: 'ConsoleMap',
      description: 'A map over the console’s own base map; null: none',
      type: ['object', 'null'],
      required: ['kind', 'url', 'attribution', 'maxZoom'],
      properties: {
        kind: { enum: ['tiles', 'pmtiles'], description: 'Raster tiles, or a PMTiles file' },
        url: {
          type: 'string',
          description: 'Of tiles with `{z}`, `{x}` and `{y}`; a path is one of this API',
        },
        attribution: { type: ['string', 'null'], description: 'Plain text' },
        maxZoom: { type: ['integer', 'null'], description: 'Null: as the map itself says' },
      },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
}
