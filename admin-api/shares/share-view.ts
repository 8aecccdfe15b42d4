import type { Share } from '../../store/back-office.ts'
import type { JsonSchema } from '../http/admin-route.ts'
import { isoTime, TIME } from '../http/views.ts'
import { objectOf } from '../../runtime/openapi/json-schema.ts'

/** A share as operators see it, without the token. */
export function shareView(share: Share, now: number) {
  const { id, name, devices, trailMinutes, createdAt, expiresAt } = share
  return {
    id,
    name,
    status: now < expiresAt ? 'active' : 'expired',
    deviceIds: devices.map(({ deviceId }) => deviceId),
    trailMinutes,
    createdAt: isoTime(createdAt),
    expiresAt: isoTime(expiresAt),
  }
}

const PROPERTIES = {
  id: { type: 'string', description: 'ULID' },
  name: { type: 'string' },
  status: { enum: ['active', 'expired'] },
  deviceIds: { type: 'array', items: { type: 'string' }, description: 'Without erased ones' },
  trailMinutes: { type: 'integer' },
  createdAt: TIME,
  expiresAt: TIME,
}

export const SHARE: JsonSchema = objectOf(PROPERTIES, { title: 'Share' })

export const SHARE_WITH_TOKEN: JsonSchema = objectOf(
  {
    ...PROPERTIES,
    token: { type: 'string', description: 'The secret of the link, shown this once' },
  },
  { title: 'ShareWithToken' },
)
