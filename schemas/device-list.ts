/**
 * Whether a key's list covers a device. Entries are exact ids, or prefixes that end in `*`. No list
 * covers every device.
 */
export function isListed(list: readonly string[] | undefined, deviceId: string): boolean {
  return (
    list === undefined ||
    list.some((listed) =>
      listed.endsWith('*') ? deviceId.startsWith(listed.slice(0, -1)) : listed === deviceId,
    )
  )
}
