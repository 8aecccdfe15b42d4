import { ApiError, invalidParams } from '../../runtime/errors.ts'
import {
  MOST_DEFINITION_BYTES,
  MOST_GEOFENCES,
  MOST_VERTICES_OF_ACCOUNT,
  type Geofence,
} from '../../schemas/definitions/geofence.ts'
import type { GeofenceRefused } from '../../store/definitions.ts'

const EXTERNAL_ID_TAKEN =
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
