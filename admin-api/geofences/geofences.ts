import { randomBytes } from 'node:crypto'
import type { Clock } from '../../runtime/clock.ts'
import { ApiError, invalidParams } from '../../runtime/errors.ts'
import { succeed } from '../../runtime/http/http.ts'
import { objectOf } from '../../runtime/openapi/json-schema.ts'
import { readPages } from '../../runtime/process/read-pages.ts'
import type { GeofenceContent } from '../../schemas/definitions/geofence.ts'
import { ulid } from '../../schemas/events/record-id.ts'
import type { NamedDefinition } from '../../store/definitions.ts'
import type { Store } from '../../store/store.ts'
import { devicesWithRoute } from '../devices/devices-with.ts'
import {
  pathParameter,
  route,
  type AdminContext,
  type AdminRoute,
  type Input,
} from '../http/admin-route.ts'
import { answerInParts } from '../http/answer-in-parts.ts'
import { listById, pageOf } from '../http/answer-page.ts'
import { requireChange } from '../http/body.ts'
import type { Caller } from '../http/caller.ts'
import { DEFAULT_LIMIT, LIMIT_PARAMETER, PAGE_PARAMETERS } from '../http/query.ts'
import { choice, type InputOf } from '../http/rule.ts'
import { selectionAudit } from '../http/selection-audit.ts'
import { exportGeofences, GEOFENCE_FEATURES } from './export-geofences.ts'
import {
  GEOFENCE_CHANGES,
  NEW_GEOFENCE,
  withChange,
  type GeofenceChange,
  type GeofenceInput,
} from './geofence-rules.ts'
import {
  GEOFENCE,
  GEOFENCE_NAME,
  geofenceDetails,
  geofenceView,
  requireGeofence,
  requireStored,
} from './geofence-view.ts'

/** A thousand vertices of twenty digits are far less. */
export const BODY_LIMIT_BYTES = 1024 * 1024

const NAMED_AT_ONCE = 1_000

const LIST_PARAMETERS = {
  limit: LIMIT_PARAMETER.described('1 to 1000, 100 where it is not given; with json only'),
  cursor: PAGE_PARAMETERS.cursor,
  format: choice(['json', 'geojson'], { expected: 'format must be json or geojson' })
    .withDefault('json')
    .described(
      'json is a page of the list; geojson is all geofences as a file, as the import takes it',
    ),
}

type ListQuery = InputOf<typeof LIST_PARAMETERS>

export const EXAMPLE_GEOFENCE = {
  name: 'Depot',
  externalId: 'depot-1',
  shape: { type: 'circle', latitude: 45.2735, longitude: 13.7142, radius: 150 },
  properties: { street: 'Harbour road 1' },
  confirmSeconds: 60,
}

/** Areas that devices enter and leave. */
export function geofenceRoutes({ store, clock }: { store: Store; clock: Clock }): AdminRoute[] {
  const { livesOf, record } = selectionAudit('geofence', { store, clock })

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
      view: (geofence) => geofenceView(geofence, caller, adoption),
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

  async function create(
    ctx: AdminContext,
    caller: Caller,
    { body }: Input<object, GeofenceInput>,
  ): Promise<void> {
    const { accountId } = caller
    const lives = await livesOf(caller, body)
    const createdAt = clock.now()
    const id = ulid(createdAt, randomBytes(10))
    const [outcome] = await store.createGeofences([{ ...body, id, accountId, createdAt }])
    const geofence = requireStored(outcome!)
    await record(ctx, caller, 'geofence.created', { id, details: geofenceDetails(body), lives })
    succeed(ctx, geofenceView(geofence, caller), { status: 201 })
  }

  async function show(ctx: AdminContext, caller: Caller): Promise<void> {
    const { accountId } = caller
    const id = pathParameter(ctx, 'id')
    const geofence = requireGeofence(await store.findGeofence({ accountId, id }))
    succeed(ctx, geofenceView(geofence, caller, await store.adoption(accountId)))
  }

  async function change(
    ctx: AdminContext,
    caller: Caller,
    { body }: Input<object, GeofenceChange>,
  ): Promise<void> {
    requireChange(body, GEOFENCE_CHANGES)
    const { accountId } = caller
    const query = { accountId, id: pathParameter(ctx, 'id') }
    const before = requireGeofence(await store.findGeofence(query))
    const lives = await livesOf(caller, body)
    const changedAt = clock.now()
    const next = (content: GeofenceContent) => withChange(content, body)
    const outcome = await store.changeGeofence({ ...query, changedAt, next })
    const geofence = requireStored(requireGeofence(outcome))
    if (geofence.revision !== before.revision) {
      await record(ctx, caller, 'geofence.changed', {
        id: query.id,
        details: geofenceDetails(body),
        lives,
      })
    }
    succeed(ctx, geofenceView(geofence, caller))
  }

  async function remove(ctx: AdminContext, caller: Caller): Promise<void> {
    const { accountId } = caller
    const id = pathParameter(ctx, 'id')
    const outcome = requireGeofence(
      await store.deleteGeofence({ accountId, id, deletedAt: clock.now() }),
    )
    if ('namedBy' in outcome) {
      const { name } = outcome.namedBy
      throw new ApiError(
        'CONFLICT',
        `the rule ${JSON.stringify(name)} names this geofence: change or delete it first`,
      )
    }
    const { name } = outcome.deleted
    await record(ctx, caller, 'geofence.deleted', { id, details: { name } })
    succeed(ctx, null)
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
      answer: { data: pageOf(GEOFENCE), content: { 'application/geo+json': GEOFENCE_FEATURES } },
      handle: list,
    }),
    route({
      method: 'POST',
      path: '/geofences',
      summary: 'Makes a geofence',
      description: DESCRIPTION,
      needs: 'dispatcher',
      body: NEW_GEOFENCE,
      bodyExample: EXAMPLE_GEOFENCE,
      bodyLimitBytes: BODY_LIMIT_BYTES,
      answer: { status: 201, data: GEOFENCE },
      errors: ['CONFLICT'],
      handle: create,
    }),
    {
      method: 'GET',
      path: '/geofences/names',
      summary: 'The names of all geofences, newest first',
      needs: 'viewer',
      scope,
      compressed: true,
      answer: { data: objectOf({ items: { type: 'array', items: GEOFENCE_NAME } }) },
      handle: listNames,
    },
    {
      method: 'GET',
      path: '/geofences/:id',
      summary: 'One geofence',
      needs: 'viewer',
      scope,
      answer: { data: GEOFENCE },
      handle: show,
    },
    devicesWithRoute({
      path: '/geofences/:id/devices',
      summary: 'Devices in a geofence, and since when',
      async definitionOf(ctx, { accountId }) {
        const id = pathParameter(ctx, 'id')
        requireGeofence(await store.findGeofence({ accountId, id }))
        return { geofenceId: id }
      },
      store,
    }),
    route({
      method: 'PATCH',
      path: '/geofences/:id',
      summary: 'Changes a geofence',
      description:
        '`null` takes an optional field away. Devices are judged by the change within 5 s.',
      needs: 'dispatcher',
      body: GEOFENCE_CHANGES,
      bodyExample: { name: 'Depot', enabled: false },
      bodyLimitBytes: BODY_LIMIT_BYTES,
      answer: { data: GEOFENCE },
      errors: ['CONFLICT'],
      handle: change,
    }),
    {
      method: 'DELETE',
      path: '/geofences/:id',
      summary: 'Deletes a geofence that no rule names',
      needs: 'dispatcher',
      answer: {},
      errors: ['CONFLICT'],
      handle: remove,
    },
  ]
}

const DESCRIPTION = `
A device **enters** when a position is inside, and as accurate as it is deep inside, or as the shorter side of the area, at
most 100 m. It **leaves** when a position is outside by more than 20 m and by more than its accuracy. With
\`confirmSeconds\` it must stay there that long. Devices that are inside a new or changed geofence already are in it without a
fact. Devices are judged by it within 5 s.
`.trim()

/** @throws {ApiError} 400 for parameters that only apply to pages. */
function refuseWithFile(query: ListQuery): void {
  const faults = (['limit', 'cursor'] as const)
    .filter((field) => query[field] !== undefined)
    .map((field) => ({
      field,
      message: `${field} goes with format=json only: geojson is all geofences`,
    }))
  if (faults.length > 0) throw invalidParams(faults)
}
