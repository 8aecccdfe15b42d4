import { ROLES, type Operator } from '../../store/operators.ts'
import { objectOf } from '../../runtime/openapi/json-schema.ts'
import type { JsonSchema } from '../http/admin-route.ts'
import { isoTime, TIME } from '../http/views.ts'
import { MUST_CHANGE_PASSWORD } from '../sign-in/credential-rules.ts'
import { choice } from '../http/rule.ts'

/** An operator as other operators see it, without the password. */
export function operatorView(operator: Operator) {
  const { id, email, role, platform, mustChangePassword = false, createdAt } = operator
  return { id, email, role, platform, mustChangePassword, createdAt: isoTime(createdAt) }
}

export const OPERATOR: JsonSchema = objectOf(
  {
    id: { type: 'string' },
    email: { type: 'string' },
    role: { enum: ROLES },
    platform: { type: 'boolean', description: 'May make and suspend accounts' },
    mustChangePassword: MUST_CHANGE_PASSWORD,
    createdAt: TIME,
  },
  { title: 'Operator' },
)

export const NEW_OPERATOR: JsonSchema = {
  ...OPERATOR,
  title: 'OperatorWithPassword',
  properties: {
    ...(OPERATOR['properties'] as JsonSchema),
    password: { type: 'string', description: 'If one was generated; shown only in this answer' },
  },
}

export const roleRule = choice(ROLES, { expected: `role must be ${ROLES.join(' or ')}` })
