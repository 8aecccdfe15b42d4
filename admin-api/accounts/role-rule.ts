import { ROLES } from '../../store/back-office.ts'
import { choice } from '../http/rule.ts'

export const roleRule = choice(ROLES, { expected: `role must be ${ROLES.join(' or ')}` })
