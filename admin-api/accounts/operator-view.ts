import { ROLES, type Operator } from '../../store/back-office.ts'
import type { JsonSchema } from '../http/admin-route.ts'
import { isoTime, TIME } from '../http/views.ts'
import { objectOf } from '../../runtime/openapi/json-schema.ts'

/** An operator as other operators see it, without the password. */
export function operatorView({ id, email, role, platform, createdAt }: Operator) {
  return { id, email, role, platform, createdAt: isoTime(createdAt) }
}

export const OPERATOR: JsonSchema = objectOf(
  {
    id: { type: 'string' },
    email: { type: 'string' },
    role: { enum: ROLES },
    platform: { type: 'boolean', description: 'May make and suspend accounts' },
    createdAt: TIME,
  },
  { title: 'Operator' },
)
