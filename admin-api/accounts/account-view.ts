import { ROLES, type Account } from '../../store/operators.ts'
import type { JsonSchema } from '../http/admin-route.ts'
import { isoTime, TIME } from '../http/views.ts'
import { objectOf } from '../../runtime/openapi/json-schema.ts'

/** An account as platform operators see it. */
export function accountView({ id, name, suspended, createdAt }: Account) {
  return { id, name, suspended, createdAt: isoTime(createdAt) }
}

const PROPERTIES = {
  id: { type: 'string' },
  name: { type: 'string' },
  suspended: { type: 'boolean' },
  createdAt: TIME,
}

export const ACCOUNT: JsonSchema = objectOf(PROPERTIES, { title: 'Account' })

export const ACCOUNT_WITH_ADMIN: JsonSchema = objectOf(
  {
    ...PROPERTIES,
    admin: objectOf({ id: { type: 'string' }, email: { type: 'string' }, role: { enum: ROLES } }),
  },
  { title: 'AccountWithAdmin' },
)
