import type { AdminContext } from '../../http/admin-route.ts'

/**
 * Makes browsers save the answer as a file named after the device (RFC 6266). Invisible characters,
 * and those special to file systems, become `_`.
 */
export function attachFile(
  ctx: AdminContext,
  { deviceId, extension }: { readonly deviceId: string; readonly extension: string },
): void {
  const safe = deviceId.replace(/[/\\:*?"<>|%\p{C}\p{Z}]/gu, '_').replace(/^\./, '_')
  const ascii = safe.replace(/[^\x21-\x7e]/gu, '_')
  const name = (stem: string) => `${stem}-positions.${extension}`
  ctx.attachment(name(safe), { fallback: name(ascii) })
}
