import type { MapConfig } from '../runtime/config/console-variables.ts'
import { succeed } from '../runtime/http/http.ts'
import type { AdminContext, AdminRoute, JsonSchema } from './http/admin-route.ts'
import { mapView, MAPS } from './map-view.ts'
import { isLoopback, type IngestAddresses } from './ingest-addresses.ts'
import { objectOf } from '../runtime/openapi/json-schema.ts'

/** The service settings that the console's pages need. */
export function consoleRoutes({
  ingest,
  maps,
}: {
  ingest: IngestAddresses
  maps: readonly MapConfig[]
}): AdminRoute[] {
  async function show(ctx: AdminContext): Promise<void> {
    const ingestUrl = ingest.forSenders(ctx.hostname)
    succeed(ctx, {
      ingestUrl: ingestUrl ?? null,
      loopback: ingestUrl !== undefined && isLoopback(ingestUrl),
      maps: maps.map(mapView),
    })
  }

  return [
    {
      method: 'GET',
      path: '/console',
      summary: 'Where devices report to, and which maps are offered',
      needs: 'viewer',
      answer: { data: CONSOLE },
      handle: show,
    },
  ]
}

const CONSOLE: JsonSchema = objectOf(
  {
    ingestUrl: {
      type: ['string', 'null'],
      description:
        'Where devices reach the ingest API: `/api/v1/gps/submit` follows. Null where it is not known: INGEST_PUBLIC_URL says it',
    },
    loopback: { type: 'boolean', description: 'Only programs on the same machine reach it' },
    maps: MAPS,
  },
  { title: 'Console' },
)
