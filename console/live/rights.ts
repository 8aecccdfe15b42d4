import { me } from './session.ts'

/** The roles that have each right; `accounts` is for operators of the platform. */
const ROLES = {
  'audit.read': ['admin'],
  'devices.edit': ['admin'],
  'keys.edit': ['admin'],
  'operators.edit': ['admin'],
  'shares.edit': ['admin'],
} as const satisfies Record<string, readonly string[]>

export type Right = keyof typeof ROLES | 'accounts.edit'

/** Whether the operator sees the controls that need this right; the API decides by itself. */
export function may(right: Right): boolean {
  if (!me.value) return false
  const { role, platform } = me.value.operator
  if (right === 'accounts.edit') return platform
  return ROLES[right].some((one) => one === role)
}
