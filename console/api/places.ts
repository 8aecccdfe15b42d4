import { api } from './client.ts'
import type { components } from './schema.ts'

/** The name of a place; null if no town is near. */
export type Place = components['schemas']['Place']

type Coordinates = { readonly latitude: number; readonly longitude: number }

/** The most places of one call. */
const MOST_PLACES = 200
/** Five decimals are a metre, enough for a name. */
const DECIMALS = 5
const NAMES_KEPT = 5_000
/** Geofences are made and changed meanwhile. */
const KEPT_MS = 5 * 60_000

const known = new Map<string, { readonly place: Place; readonly until: number }>()

/**
 * The names of positions, in their order; those asked for lately are remembered. A page asks for all that it shows
 * together.
 */
export async function placesOf(
  positions: readonly Coordinates[],
  signal?: AbortSignal,
): Promise<readonly Place[]> {
  const keys = positions.map(keyOf)
  const now = Date.now()
  const unknown = [...new Set(keys)].filter((key) => (known.get(key)?.until ?? 0) < now)
  const answered = new Map<string, Place>()
  for (let begin = 0; begin < unknown.length; begin += MOST_PLACES) {
    const at = unknown.slice(begin, begin + MOST_PLACES)
    const { items } = await api.get('/places', { query: { at }, ...(signal && { signal }) })
    for (const [n, key] of at.entries()) answered.set(key, items[n] ?? null)
  }
  const places = keys.map((key) => answered.get(key) ?? known.get(key)?.place ?? null)
  remember(answered, now + KEPT_MS)
  return places
}

/** After a geofence was made, changed or deleted. */
export function forgetPlaces(): void {
  known.clear()
}

function remember(places: ReadonlyMap<string, Place>, until: number): void {
  for (const [key, place] of places) {
    known.delete(key)
    known.set(key, { place, until })
  }
  for (const key of known.keys()) {
    if (known.size <= NAMES_KEPT) return
    known.delete(key)
  }
}

function keyOf({ latitude, longitude }: Coordinates): string {
  return `${latitude.toFixed(DECIMALS)},${longitude.toFixed(DECIMALS)}`
}
