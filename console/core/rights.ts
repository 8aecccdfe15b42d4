/** The least role that has each right; each role has all that those before it have. */
const NEEDED = {
  'audit.read': 'admin',
  'devices.edit': 'dispatcher',
  'devices.disable': 'admin',
  'keys.edit': 'admin',
  'operators.edit': 'admin',
  'shares.edit': 'dispatcher',
} as const

export type Right = keyof typeof NEEDED

export const ROLE_NAMES: readonly string[] = ['viewer', 'dispatcher', 'admin']

/** A role unknown to this console has no rights. */
export function roleMay(role: string, right: Right): boolean {
  return ROLE_NAMES.indexOf(role) >= ROLE_NAMES.indexOf(NEEDED[right])
}
