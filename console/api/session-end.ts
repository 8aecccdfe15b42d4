const WARN_MS = 2 * 60_000

/** How long the session lasts yet, where that is less than two minutes and it has not ended. */
export function endOfSession(
  { idleEndsAt, endsAt }: { readonly idleEndsAt: string; readonly endsAt: string },
  now: number,
): { readonly leftMs: number; readonly canBeProlonged: boolean } | undefined {
  const idle = Date.parse(idleEndsAt)
  const last = Date.parse(endsAt)
  const leftMs = Math.min(idle, last) - now
  // Using it moves the one end on, never beyond the other.
  if (!(leftMs > 0 && leftMs <= WARN_MS)) return undefined
  return { leftMs, canBeProlonged: last - now > WARN_MS }
}

/** `1:05`. */
export function clockTime(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000))
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
