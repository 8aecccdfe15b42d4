import { allPages, api } from '../../api/client.ts'
import type { components } from '../../api/schema.ts'
import type { ApiRule } from '../../core/rule-words.ts'
import { sketchOf } from '../../core/sketch.ts'
import { pointsOf, type PaintedGeofence } from '../../map/geofence-painter.ts'
import { useLoad, type LoadState } from '../../ui/use-load.ts'

export type ApiGeofence = components['schemas']['Geofence']

/**
 * Other operators also create and change definitions. Thousands of geofences take a while to read.
 */
const GEOFENCES_EVERY_MS = 30_000
const RULES_EVERY_MS = 10_000

/** The account's current geofences, by name. */
export function useGeofences(): LoadState<readonly ApiGeofence[]> {
  const read = async (signal: AbortSignal) => {
    const page = (cursor?: string) =>
      api.get('/geofences', { query: { limit: 1_000, cursor }, signal })
    return sortByName(await allPages(page))
  }
  return useLoad(read, [], { everyMs: GEOFENCES_EVERY_MS })
}

/**
 * The ids and names of the account's geofences, by name: without shapes, which may number
 * thousands.
 */
export function useGeofenceNames(): LoadState<readonly components['schemas']['GeofenceName'][]> {
  return useLoad(
    async (signal) => sortByName((await api.get('/geofences/names', { signal })).items),
    [],
  )
}

/** The account's current rules, by name. */
export function useRules(): LoadState<readonly ApiRule[]> {
  const read = async (signal: AbortSignal) => {
    const page = (cursor?: string) => api.get('/rules', { query: { limit: 1_000, cursor }, signal })
    return sortByName(await allPages(page))
  }
  return useLoad(read, [], { everyMs: RULES_EVERY_MS })
}

/** A geofence in the form that maps draw. */
export function toPaintedGeofence({ id, name, shape, enabled }: ApiGeofence): PaintedGeofence {
  return { id, name, rings: pointsOf(sketchOf(shape)), isEnabled: enabled }
}

const collator = new Intl.Collator(undefined, { numeric: true })

function sortByName<T extends { readonly name: string }>(items: T[]): readonly T[] {
  return items.sort((a, b) => collator.compare(a.name, b.name))
}
