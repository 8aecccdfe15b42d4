import type { Guide } from '../../../console/guides/guide.ts'
import { GUIDES } from '../../../console/guides/guides.ts'

/** Every character that a shell, a template or a string literal might interpret. */
export const ODD_ID = `van's "7" \\ $HOME \`id\` %LAT %s {0} a+b&c=d 🚚`
export const KEY_SHAPED = `gps_${'a'.repeat(38)}`

/** One after the other: Jest fails to link modules that share imports while both load. */
export async function everyGuide(): Promise<Map<string, Guide>> {
  const guides = new Map<string, Guide>()
  for (const { id, load } of GUIDES.flatMap(({ guides }) => guides)) guides.set(id, await load())
  return guides
}
