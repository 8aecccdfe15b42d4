import type { components } from '../../api/schema.ts'
import { ROLES } from '../../core/rights.ts'

export type Operator = components['schemas']['Operator']

/** `Viewer`; a role unknown to this console keeps the API's name. */
export function roleName(role: string): string {
  return ROLES.includes(role) ? role.charAt(0).toUpperCase() + role.slice(1) : role
}
