import { api } from '../../api/client.ts'
import { readEpisodes, type Episode } from '../../core/trips.ts'
import type { DeviceRange } from './use-reports.ts'

/** The trips and stops of a range, and the gaps between them. */
export async function loadEpisodes(
  { deviceId, from, to }: DeviceRange,
  signal: AbortSignal,
): Promise<readonly Episode[]> {
  const items: Parameters<typeof readEpisodes>[0][number][] = []
  for (let cursor: string | undefined; ;) {
    const page = await api.get('/devices/{deviceId}/trips', {
      path: { deviceId },
      query: { from, to, cursor },
      signal,
    })
    items.push(...page.items)
    if (page.nextCursor === null) return readEpisodes(items)
    cursor = page.nextCursor
  }
}
