import type { components } from '../../api/schema.ts'
import { ROLE_NAMES } from '../../core/session-rules.ts'

export type ApiOperator = components['schemas']['Operator']
export type OperatorWithPassword = components['schemas']['OperatorWithPassword']

/** The rights of each role, shown where a role is chosen. */
export const ROLES_EXPLAINED =
  'Viewers see devices and change nothing. Dispatchers also name, label and share them. Admins can do everything.'

/** Whether nobody else in the whole list is an admin. */
export function isLastAdmin(of: ApiOperator, operators: readonly ApiOperator[]): boolean {
  return of.role === 'admin' && !operators.some(({ id, role }) => id !== of.id && role === 'admin')
}

/** `Viewer`; a role unknown to this console keeps the API's name. */
export function roleName(role: string): string {
  return ROLE_NAMES.includes(role) ? role.charAt(0).toUpperCase() + role.slice(1) : role
}
