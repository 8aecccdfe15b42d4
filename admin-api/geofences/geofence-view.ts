import { ApiError, invalidParams } from '../../runtime/errors.ts'
import { objectOf, type JsonSchema } from '../../runtime/openapi/json-schema.ts'
import {
  MOST_DEFINITION_BYTES,
  MOST_GEOFENCES,
  MOST_VERTICES_OF_ACCOUNT,
  verticesOf,
  type Geofence,
  type GeofenceShape,
} from '../../schemas/definitions/geofence.ts'
import type { Adoption, AdoptionRun, GeofenceRefused } from '../../store/definitions.ts'
import type { Caller } from '../http/caller.ts'
import { isoTime, TIME } from '../http/views.ts'
import { PROPERTIES, SHAPE } from './geofence-rules.ts'
import { SELECTION_PROPERTIES, selectionView } from './selection-rules.ts'

export function geofenceView(geofence: Geofence, caller: Caller, adoption?: Adoption) {
  const { id, name, externalId, shape, properties, confirmSeconds, enabled } = geofence
  const { revision, createdAt, changedAt } = geofence
  return {
    id,
    name,
    ...(externalId !== undefined && { externalId }),
    shape,
    ...(properties !== undefined && { properties }),
    ...selectionView(geofence, caller),
    confirmSeconds,
    enabled,
    revision,
    createdAt: isoTime(createdAt),
    changedAt: isoTime(changedAt),
    ...adoptingView(geofence, adoption),
  }
}

/** Shown while devices that are in the geofence already are being looked for. */
function adoptingView(
  { enabled, inForceSince }: Geofence,
  adoption: Adoption | undefined,
): { readonly adopting?: Pick<AdoptionRun, 'done' | 'total'> } {
  const { running } = adoption ?? {}
  if (!enabled || running === undefined) return {}
  const { from, to, done, total } = running
  return from <= inForceSince && inForceSince <= to ? { adopting: { done, total } } : {}
}

export const GEOFENCE: JsonSchema = objectOf(
  {
    id: { type: 'string', description: 'ULID' },
    name: { type: 'string' },
    externalId: { type: 'string' },
    shape: SHAPE,
    properties: PROPERTIES,
    deviceIds: SELECTION_PROPERTIES.deviceIds,
    labels: SELECTION_PROPERTIES.labels,
    confirmSeconds: { type: 'integer' },
    enabled: { type: 'boolean' },
    revision: { type: 'integer', description: 'Grows with every change' },
    createdAt: TIME,
    changedAt: TIME,
    adopting: objectOf(
      { done: { type: 'integer' }, total: { type: 'integer' } },
      {
        title: 'Adopting',
        description:
          'Only while it is new or changed, and the devices in its neighbourhood are not yet all looked at: those inside already are then in it, without a fact',
      },
    ),
  },
  { title: 'Geofence', optional: ['externalId', 'properties', 'deviceIds', 'labels', 'adopting'] },
)

export const GEOFENCE_NAME: JsonSchema = objectOf(
  { id: { type: 'string', description: 'ULID' }, name: { type: 'string' } },
  { title: 'GeofenceName' },
)

/** For the audit: a shape may have a thousand vertices. */
export function geofenceDetails({
  shape,
  ...fields
}: {
  readonly shape?: GeofenceShape
  readonly [field: string]: unknown
}) {
  return { ...fields, ...(shape !== undefined && { shape: shapeDetails(shape) }) }
}

function shapeDetails(shape: GeofenceShape): object {
  if (shape.type === 'circle') return shape
  return { type: shape.type, vertices: verticesOf(shape) }
}

export function requireGeofence<Found>(found: Found | undefined): Found {
  if (found === undefined) throw new ApiError('NOT_FOUND', 'there is no geofence with this id')
  return found
}

export const EXTERNAL_ID_TAKEN =
  'another geofence has this externalId: change it with PUT /api/v1/geofences/by-external-id/…'

export const TOO_LARGE = `too large: the geofences, rules and subscriptions of an account have at most ${MOST_DEFINITION_BYTES / 1024 / 1024} MiB together: remove some, or name fewer devices by labels`

/** The message for a geofence that the account has no room for. */
export function refusedMessage(refused: GeofenceRefused): string {
  switch (refused) {
    case 'external id taken':
      return EXTERNAL_ID_TAKEN
    case 'too many geofences':
      return `an account has at most ${MOST_GEOFENCES} geofences: delete some first`
    case 'too many vertices':
      return `the geofences of an account have at most ${MOST_VERTICES_OF_ACCOUNT} vertices together: delete or simplify some first`
    case 'too large':
      return TOO_LARGE
  }
}

/** @throws {ApiError} 409 for an external id that is taken, 400 for too many. */
export function requireStored(outcome: Geofence | GeofenceRefused): Geofence {
  if (typeof outcome === 'object') return outcome
  const message = refusedMessage(outcome)
  if (outcome === 'external id taken') throw new ApiError('CONFLICT', message)
  throw invalidParams([{ field: 'shape', message }])
}
