import type { Guide } from '../../../console/guides/guide.ts'
import { GUIDES } from '../../../console/guides/guides.ts'

/** Everything that a shell, a template or a string literal might take for its own. */
export const ODD_ID = `van's "7" \\ $HOME \`id\` %LAT %s {0} a+b&c=d 🚚`
export const KEY_SHAPED = `gps_${'a'.repeat(38)}`

export async function everyGuide(): Promise<Map<string, Guide>> {
  const all = GUIDES.flatMap(({ guides }) => guides)
  return new Map(await Promise.all(all.map(async ({ id, load }) => [id, await load()] as const)))
}
