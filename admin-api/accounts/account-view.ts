import { ROLES, type Account } from '../../store/back-office.ts'
import type { JsonSchema } from '../http/admin-route.ts'
import { isoTime, TIME } from '../http/views.ts'

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

export const ACCOUNT: JsonSchema = {
  title: 'Account',
  type: 'object',
  required: Object.keys(PROPERTIES),
  properties: PROPERTIES,
  additionalProperties: false,
}

export const ACCOUNT_WITH_ADMIN: JsonSchema = {
  title: 'AccountWithAdmin',
  type: 'object',
  required: [...Object.keys(PROPERTIES), 'admin'],
  properties: {
    ...PROPERTIES,
    admin: {
      type: 'object',
      required: ['id', 'email', 'role'],
      properties: { id: { type: 'string' }, email: { type: 'string' }, role: { enum: ROLES } },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
}
