import { Readable } from 'node:stream'
import { createFairYielder } from '../../runtime/end-of-turn.ts'
import { openPages } from '../../runtime/process/read-pages.ts'
import type { Geofence } from '../../schemas/definitions/geofence.ts'
import type { Store } from '../../store/store.ts'
import type { AdminContext, JsonSchema } from '../http/admin-route.ts'
import type { Caller } from '../http/caller.ts'
import { visibleDevices } from './selection-rules.ts'

const READ_AT_ONCE = 50
/** Few enough to write in one event-loop turn. */
const BYTES_AT_ONCE = 512 * 1024

/**
 * RFC 7946: a collection of features. A circle is a point with a radius, which the import accepts.
 */
export const GEOFENCE_FEATURES: JsonSchema = {
  title: 'GeofenceFeatures',
  type: 'object',
  required: ['type', 'features'],
  properties: {
    type: { const: 'FeatureCollection' },
    features: {
      type: 'array',
      items: {
        title: 'GeofenceFeature',
        type: 'object',
        required: ['type', 'geometry', 'properties'],
        properties: {
          type: { const: 'Feature' },
          geometry: {
            type: 'object',
            required: ['type', 'coordinates'],
            properties: {
              type: { enum: ['Point', 'Polygon', 'MultiPolygon'] },
              coordinates: { type: 'array' },
            },
            additionalProperties: false,
          },
          properties: {
            type: 'object',
            required: ['name'],
            properties: { name: { type: 'string' }, radius: { type: 'number' } },
          },
        },
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
}

/**
 * All geofences of the account as one file, at the caller's pace. The first part is read before
 * this returns.
 */
export async function exportGeofences(
  ctx: AdminContext,
  caller: Caller,
  { store }: { store: Pick<Store, 'pageGeofences'> },
): Promise<void> {
  const { accountId } = caller
  const pages = await openPages<Geofence>(
    READ_AT_ONCE,
    (page) => store.pageGeofences({ accountId, ...page }),
    { mostBytes: BYTES_AT_ONCE },
  )
  ctx.set('Content-Type', 'application/geo+json')
  ctx.set('Content-Disposition', 'attachment; filename="geofences.geojson"')
  ctx.body = Readable.from(texts())

  async function* texts(): AsyncGenerator<string, void> {
    yield '{"type":"FeatureCollection","features":['
    let separator = '\n'
    const turn = createFairYielder(accountId)
    for await (const page of pages) {
      for (const geofence of page) {
        yield separator + JSON.stringify(featureOf(geofence, caller))
        separator = ',\n'
        await turn()
      }
    }
    yield '\n]}\n'
  }
}

function featureOf(geofence: Geofence, caller: Caller) {
  const { name, externalId, shape, properties, labels, confirmSeconds, enabled } = geofence
  const deviceIds = visibleDevices(geofence, caller)
  const isCircle = shape.type === 'circle'
  const own = {
    name,
    ...(externalId !== undefined && { externalId }),
    ...(isCircle && { radius: shape.radius }),
    ...(deviceIds !== undefined && { deviceIds }),
    ...(labels !== undefined && { labels }),
    ...(confirmSeconds > 0 && { confirmSeconds }),
    ...(!enabled && { enabled }),
  }
  return {
    type: 'Feature',
    geometry: isCircle ? { type: 'Point', coordinates: [shape.longitude, shape.latitude] } : shape,
    // A property with the name of a geofence field is dropped.
    properties: { ...properties, ...own },
  }
}
