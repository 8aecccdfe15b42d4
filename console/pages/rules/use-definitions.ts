import { api } from '../../api/client.ts'
import type { components } from '../../api/schema.ts'
import { useLoad } from '../../ui/use-load.ts'

export type ApiGeofence = components['schemas']['Geofence']
export type ApiRule = components['schemas']['Rule']

/** As many as one page of the API holds. */
const query = { limit: 1_000 }

/** The account's geofences and rules, by name; empty until they are read. */
export function useDefinitions(): {
  readonly geofences: readonly ApiGeofence[]
  readonly rules: readonly ApiRule[]
} {
  const geofences = useLoad((signal) => api.get('/geofences', { query, signal }), [])
  const rules = useLoad((signal) => api.get('/rules', { query, signal }), [])
  return { geofences: byName(geofences.data?.items), rules: byName(rules.data?.items) }
}

const collator = new Intl.Collator(undefined, { numeric: true })

function byName<T extends { readonly name: string }>(items: readonly T[] = []): readonly T[] {
  return [...items].sort((a, b) => collator.compare(a.name, b.name))
}
