import type { Share } from '../../store/back-office.ts'
import type { JsonSchema } from '../http/admin-route.ts'
import { isoTime, TIME } from '../http/views.ts'
import { objectOf } from '../../runtime/openapi/json-schema.ts'

/** A share as operators see it, without the token. */
export function shareView(share: Share, title: string, now: number) {
  const { id, devices, trailMinutes, createdAt, expiresAt } = share
  const { showsNow = false, showsStreets = false } = share
  return {
    id,
    name: title,
    status: now < expiresAt ? 'active' : 'expired',
    deviceIds: devices.map(({ deviceId }) => deviceId),
    names: Object.fromEntries(
      devices.flatMap(({ deviceId, name }) => (name === undefined ? [] : [[deviceId, name]])),
    ),
    trailMinutes,
    showsNow,
    showsStreets,
    createdAt: isoTime(createdAt),
    expiresAt: isoTime(expiresAt),
  }
}

const PROPERTIES = {
  id: { type: 'string', description: 'ULID' },
  name: { type: 'string', description: 'The share’s own name, or else the names of its devices' },
  status: { enum: ['active', 'expired'] },
  deviceIds: { type: 'array', items: { type: 'string' }, description: 'Without erased ones' },
  names: {
    type: 'object',
    description: 'The names of devices on this link, by deviceId',
    additionalProperties: { type: 'string' },
  },
  trailMinutes: { type: 'integer' },
  showsNow: {
    type: 'boolean',
    description: 'Whether it showed the last known positions from the beginning',
  },
  showsStreets: {
    type: 'boolean',
    description: 'Whether its page loads streets from OpenStreetMap',
  },
  createdAt: TIME,
  expiresAt: TIME,
}

export const SHARE: JsonSchema = objectOf(PROPERTIES, { title: 'Share' })

export const SHARE_WITH_TOKEN: JsonSchema = objectOf(
  {
    ...PROPERTIES,
    token: { type: 'string', description: 'The secret of the link, shown only in this answer' },
  },
  { title: 'ShareWithToken' },
)
