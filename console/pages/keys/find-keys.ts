import { api } from '../../api/client.ts'
import type { PickOption } from '../../ui/pick.tsx'

const FOUND = 20

/** Finds keys by words of their names, for a filter. */
export async function findKeys(typed: string, signal: AbortSignal): Promise<readonly PickOption[]> {
  const query = { limit: FOUND, ...(typed !== '' && { q: typed }) }
  const { items } = await api.get('/keys', { query, signal })
  return items.map(({ id, name, hint }) => ({ value: id, words: name, note: hint }))
}
