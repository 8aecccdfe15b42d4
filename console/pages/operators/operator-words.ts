import type { components } from '../../api/schema.ts'

export type Operator = components['schemas']['Operator']

export const ROLES: readonly string[] = ['viewer', 'admin']

/** `Viewer`; a role unknown to this console keeps the API's name. */
export function roleName(role: string): string {
  return ROLES.includes(role) ? role.charAt(0).toUpperCase() + role.slice(1) : role
}
