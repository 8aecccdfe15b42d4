import { randomBytes } from 'node:crypto'
import type { Clock } from '../../runtime/clock.ts'
import { invalidParams } from '../../runtime/errors.ts'
import { succeed } from '../../runtime/http/http.ts'
import { ulid } from '../../schemas/events/record-id.ts'
import type { Geofence } from '../../schemas/definitions/geofence.ts'
import type { Store } from '../../store/store.ts'
import {
  pathParameter,
  route,
  type AdminContext,
  type AdminRoute,
  type Input,
} from '../http/admin-route.ts'
import type { Caller } from '../http/caller.ts'
import { SEEN_REVISION } from '../http/resource-fields.ts'
import { requireRevision } from '../http/resource.ts'
import type { InputOf } from '../http/rule.ts'
import { requireStored, NEW_GEOFENCE, type GeofenceInput } from './geofence-rules.ts'
import { BODY_LIMIT_BYTES, EXAMPLE_GEOFENCE, geofenceResource } from './geofences.ts'

const REPLACED = { ...NEW_GEOFENCE, revision: SEEN_REVISION }

/** Creates or replaces a geofence identified by another system's id. */
export function replaceGeofenceRoute({ store, clock }: { store: Store; clock: Clock }): AdminRoute {
  const geofences = geofenceResource({ store, clock })

  async function replace(
    ctx: AdminContext,
    caller: Caller,
    { body: { revision, ...body } }: Input<object, InputOf<typeof REPLACED>>,
  ): Promise<void> {
    const { accountId } = caller
    const externalId = requireExternalId(ctx, body, clock.now())
    const content = { ...body, externalId }
    const next = (current: Geofence) => {
      requireRevision('geofence', current, revision)
      return content
    }
    const lives = await geofences.livesOf(caller, body)
    for (;;) {
      const at = clock.now()
      const before = await store.findGeofenceByExternalId({ accountId, externalId })
      if (before === undefined) requireRevision('geofence', {}, revision)
      const id = before?.id ?? ulid(at, randomBytes(10))
      const outcome =
        before === undefined
          ? (await store.createGeofences([{ ...content, id, accountId, createdAt: at }]))[0]
          : await store.changeGeofence({ accountId, id, changedAt: at, next })
      // Another call has created or deleted it in the meantime.
      if (outcome === undefined || outcome === 'external id taken') continue
      const geofence = requireStored(outcome)
      if (geofence.revision !== before?.revision) {
        const action = before === undefined ? 'geofence.created' : 'geofence.changed'
        await geofences.record(ctx, caller, action, {
          id,
          details: geofences.details(geofence),
          ...lives,
        })
      }
      return succeed(ctx, geofences.view(geofence, caller))
    }
  }

  return route({
    method: 'PUT',
    path: '/geofences/by-external-id/:externalId',
    summary: 'Creates or replaces the geofence with this external id',
    description:
      'For programs that mirror the geofences of another system: repeating the call changes nothing.',
    needs: 'dispatcher',
    body: REPLACED,
    errors: ['CONFLICT'],
    bodyExample: { name: EXAMPLE_GEOFENCE.name, shape: EXAMPLE_GEOFENCE.shape },
    bodyLimitBytes: BODY_LIMIT_BYTES,
    answer: { data: geofences.schema },
    handle: replace,
  })
}

/** @throws {ApiError} 400 if it is malformed, or differs from that in the body. */
function requireExternalId(ctx: AdminContext, body: GeofenceInput, now: number): string {
  const externalId = pathParameter(ctx, 'externalId')
  const checked = NEW_GEOFENCE.externalId.check(externalId, { field: 'externalId', now })
  if ('faults' in checked) throw invalidParams(checked.faults)
  if (body.externalId !== undefined && body.externalId !== externalId) {
    const message = 'externalId must equal the one in the path, or be omitted'
    throw invalidParams([{ field: 'externalId', message }])
  }
  return externalId
}
