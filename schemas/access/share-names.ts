/** Number of devices named in the title of a share without a name. */
export const NAMED_IN_TITLE = 3

/**
 * A device's name on a link: the name given for the link, or else its usual name; its id is never
 * shown.
 */
export function nameOnLink(
  { given, own }: { given: string | undefined; own: string | null | undefined },
  index: number,
): string {
  return given ?? own ?? `Device ${index + 1}`
}

/**
 * The title of a share without a name: `Van 1, Van 2 and 3 more`.
 * @param devices the number of its devices, if `names` are only those of the first `NAMED_IN_TITLE`.
 */
export function titleOfDevices(names: readonly string[], devices = names.length): string {
  const isLong = devices > NAMED_IN_TITLE
  const named = isLong ? names.slice(0, NAMED_IN_TITLE - 1) : names.slice(0, -1)
  const last = isLong ? `${devices - named.length} more` : (names.at(-1) ?? 'No device')
  return named.length === 0 ? last : `${named.join(', ')} and ${last}`
}
