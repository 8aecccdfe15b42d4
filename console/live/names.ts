import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { api } from '../api/client.ts'

/** Maximum number of ids per call. */
const MOST = 100

/**
 * Names of keys, and e-mails of operators, by id: only for ids that a page shows, because there may
 * be thousands.
 */
const known = signal<ReadonlyMap<string, string>>(new Map())
const asked = new Set<string>()

type Named = readonly { readonly id: string; readonly words: string }[]

const READERS = {
  keys: async (id: string[]): Promise<Named> => {
    const { items } = await api.get('/keys', { query: { id, limit: MOST } })
    return items.map((key) => ({ id: key.id, words: key.name }))
  },
  operators: async (id: string[]): Promise<Named> => {
    const { items } = await api.get('/operators', { query: { id, limit: MOST } })
    return items.map((operator) => ({ id: operator.id, words: operator.email }))
  },
} as const

/** Returns the names already known for these ids, and loads the missing ones. */
export function useNamesOf(
  kind: keyof typeof READERS,
  ids: readonly string[],
): ReadonlyMap<string, string> {
  const missing = [...new Set(ids)].filter((id) => !asked.has(id)).sort()
  useEffect(() => {
    for (let at = 0; at < missing.length; at += MOST) {
      const some = missing.slice(at, at + MOST)
      for (const id of some) asked.add(id)
      READERS[kind](some).then(
        (found) => {
          known.value = new Map([
            ...known.value,
            ...found.map(({ id, words }) => [id, words] as const),
          ])
        },
        // The ids are on the page, and requested again together with it.
        () => some.forEach((id) => asked.delete(id)),
      )
    }
  }, [kind, missing.join()])
  return known.value
}
