/** The lowest role that has each right; a role has all rights of the roles below it. */
const NEEDED = {
  'audit.read': 'admin',
  'devices.edit': 'dispatcher',
  'devices.disable': 'admin',
  'geofences.edit': 'dispatcher',
  'history.import': 'dispatcher',
  'keys.edit': 'admin',
  'operators.edit': 'admin',
  'rules.edit': 'dispatcher',
  'facts.handle': 'dispatcher',
  'shares.edit': 'dispatcher',
  'subscriptions.edit': 'dispatcher',
} as const

export type Right = keyof typeof NEEDED

export const ROLE_NAMES: readonly string[] = ['viewer', 'dispatcher', 'admin']

/** A role unknown to this console has no rights. */
export function roleMay(role: string, right: Right): boolean {
  return ROLE_NAMES.indexOf(role) >= ROLE_NAMES.indexOf(NEEDED[right])
}

const WARN_MS = 2 * 60_000

/** The time until the session ends, if less than two minutes are left. */
export function endOfSession(
  { idleEndsAt, endsAt }: { readonly idleEndsAt: string; readonly endsAt: string },
  now: number,
): { readonly leftMs: number; readonly canBeProlonged: boolean } | undefined {
  const idle = Date.parse(idleEndsAt)
  const last = Date.parse(endsAt)
  const leftMs = Math.min(idle, last) - now
  // Activity extends the session, but never beyond its second limit.
  if (!(leftMs > 0 && leftMs <= WARN_MS)) return undefined
  return { leftMs, canBeProlonged: last - now > WARN_MS }
}

/** `1:05`. */
export function clockTime(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000))
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
