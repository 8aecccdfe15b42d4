import type { Clock } from '../../runtime/clock.ts'
import { ApiError, invalidParams } from '../../runtime/errors.ts'
import { objectOf, type JsonSchema } from '../../runtime/openapi/json-schema.ts'
import { readPages } from '../../runtime/process/read-pages.ts'
import type { Geofence, GeofenceContent } from '../../schemas/definitions/geofence.ts'
import type { NamedDefinition } from '../../store/definitions.ts'
import type { Store } from '../../store/store.ts'
import { devicesWithRoute } from '../devices/devices-with.ts'
import { route, type AdminContext, type AdminRoute, type Input } from '../http/admin-route.ts'
import { answerInParts } from '../http/answer-in-parts.ts'
import { listById, pageOf } from '../http/answer-page.ts'
import type { Caller } from '../http/caller.ts'
import { changeContent } from '../http/resource-fields.ts'
import { DEFAULT_LIMIT, LIMIT_PARAMETER, PAGE_PARAMETERS } from '../http/query.ts'
import { resource, type InAccount } from '../http/resource.ts'
import { choice, type InputOf } from '../http/rule.ts'
import { exportGeofences, GEOFENCE_FEATURES } from './export-geofences.ts'
import { requireStored, GEOFENCE_FIELDS, type ShownGeofence } from './geofence-rules.ts'

/** Far more than a thousand vertices of twenty digits. */
export const BODY_LIMIT_BYTES = 1024 * 1024

const NAMED_AT_ONCE = 1_000

const LIST_PARAMETERS = {
  limit: LIMIT_PARAMETER.described('1 to 1000, by default 100; with json only'),
  cursor: PAGE_PARAMETERS.cursor,
  format: choice(['json', 'geojson'], { expected: 'format must be json or geojson' })
    .withDefault('json')
    .described('json is a page of the list; geojson is all geofences as a file for the import'),
}

type ListQuery = InputOf<typeof LIST_PARAMETERS>

export const EXAMPLE_GEOFENCE = {
  name: 'Depot',
  externalId: 'depot-1',
  shape: { type: 'circle', latitude: 45.2735, longitude: 13.7142, radius: 150 },
  properties: { street: 'Harbour road 1' },
  confirmSeconds: 60,
}

export function geofenceResource({ store, clock }: { store: Store; clock: Clock }) {
  return resource({
    kind: 'geofence',
    fields: GEOFENCE_FIELDS,
    find: (query: InAccount): Promise<ShownGeofence | undefined> => store.findGeofence(query),
    reads: { needs: 'viewer', scope: 'devices:read' },
    writes: { needs: 'dispatcher' },
    namesDevices: true,
    bodyLimitBytes: BODY_LIMIT_BYTES,
    store,
    clock,
  })
}

/** Areas that devices enter and leave. */
export function geofenceRoutes({ store, clock }: { store: Store; clock: Clock }): AdminRoute[] {
  const geofences = geofenceResource({ store, clock })

  async function list(ctx: AdminContext, caller: Caller, { query }: Input<ListQuery>) {
    const { format, limit, cursor } = query
    if (format === 'geojson') {
      refuseWithFile(query)
      return exportGeofences(ctx, caller, { store })
    }
    const adoption = await store.adoption(caller.accountId)
    const page = { limit: limit ?? DEFAULT_LIMIT, ...(cursor !== undefined && { cursor }) }
    await listById({
      name: 'geofences',
      page: (query) => store.pageGeofences(query),
      view: (geofence) => geofences.view({ ...geofence, adoption }, caller),
    })(ctx, caller, { query: page })
  }

  async function listNames(ctx: AdminContext, { accountId }: Caller): Promise<void> {
    await answerInParts(ctx, { name: 'items', parts: names() })

    async function* names(): AsyncGenerator<readonly object[], void> {
      const pages = readPages<NamedDefinition>(NAMED_AT_ONCE, (page) =>
        store.pageGeofenceNames({ accountId, ...page }),
      )
      for await (const page of pages) yield page.map(({ id, name }) => ({ id, name }))
    }
  }

  const scope = 'devices:read'
  return [
    route({
      method: 'GET',
      path: '/geofences',
      summary: 'Lists geofences, newest first',
      needs: 'viewer',
      scope,
      query: LIST_PARAMETERS,
      compressed: true,
      answer: {
        data: pageOf(geofences.schema),
        content: { 'application/geo+json': GEOFENCE_FEATURES },
      },
      handle: list,
    }),
    geofences.create({
      summary: 'Creates a geofence',
      description: DESCRIPTION,
      bodyExample: EXAMPLE_GEOFENCE,
      errors: ['CONFLICT'],
      async make({ body, ...own }) {
        const [outcome] = await store.createGeofences([{ ...body, ...own }])
        return requireStored(outcome!)
      },
    }),
    {
      method: 'GET',
      path: '/geofences/names',
      summary: 'Lists the names of all geofences, newest first',
      needs: 'viewer',
      scope,
      compressed: true,
      answer: { data: objectOf({ items: { type: 'array', items: GEOFENCE_NAME } }) },
      handle: listNames,
    },
    geofences.show({
      summary: 'Returns a geofence',
      complete: async (geofence) => ({
        ...geofence,
        adoption: await store.adoption(geofence.accountId),
      }),
    }),
    devicesWithRoute({
      path: '/geofences/:id/devices',
      summary: 'Lists the devices in a geofence, and since when',
      definitionOf: async (ctx, caller) => ({
        geofenceId: (await geofences.findOne(ctx, caller)).id,
      }),
      store,
    }),
    geofences.change({
      summary: 'Changes a geofence',
      description: '`null` removes an optional field. The change applies within 5 s.',
      bodyExample: { name: 'Depot', enabled: false },
      async change({ accountId, id, body, requireSeen }) {
        const next = (before: Geofence): GeofenceContent => {
          requireSeen(before)
          return changeContent<GeofenceContent>(before, body)
        }
        const outcome = await store.changeGeofence({ accountId, id, changedAt: clock.now(), next })
        return outcome && requireStored(outcome)
      },
    }),
    geofences.remove({
      summary: 'Deletes a geofence that no rule names',
      errors: ['CONFLICT'],
      async remove(query) {
        const outcome = await store.deleteGeofence({ ...query, deletedAt: clock.now() })
        if (outcome === undefined || 'deleted' in outcome) return outcome?.deleted
        const name = JSON.stringify(outcome.namedBy.name)
        throw new ApiError(
          'CONFLICT',
          `the rule ${name} names this geofence: change or delete it first`,
        )
      },
    }),
  ]
}

const DESCRIPTION = `
A device **enters** when a position is inside and its accuracy is at most its depth inside, or the shorter side of the area
(at most 100 m). It **leaves** when a position is outside by more than 20 m and by more than its accuracy. With
\`confirmSeconds\` it must stay there that long. Devices already inside a new or changed geofence are in it without an
event. Changes apply within 5 s.
`.trim()

const GEOFENCE_NAME: JsonSchema = objectOf(
  { id: { type: 'string', description: 'ULID' }, name: { type: 'string' } },
  { title: 'GeofenceName' },
)

/** @throws {ApiError} 400 for parameters that only apply to pages. */
function refuseWithFile(query: ListQuery): void {
  const faults = (['limit', 'cursor'] as const)
    .filter((field) => query[field] !== undefined)
    .map((field) => ({
      field,
      message: `${field} requires format=json: geojson is all geofences`,
    }))
  if (faults.length > 0) throw invalidParams(faults)
}
