/**
 * Whether a key's list covers a device: it holds exact ids, and beginnings of such that end in `*`.
 * Without a list every device is covered.
 */
export function isListed(list: readonly string[] | undefined, deviceId: string): boolean {
  return (
    list === undefined ||
    list.some((listed) =>
      listed.endsWith('*') ? deviceId.startsWith(listed.slice(0, -1)) : listed === deviceId,
    )
  )
}
