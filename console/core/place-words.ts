import type { components } from '../api/schema.ts'

type Place = components['schemas']['Place']

/**
 * Formats a place: a street with its town, a district with its city: `Innere Stadt, Graz`; for a
 * geofence only its name.
 */
export function placeText(place: Place): string | undefined {
  if (place === null) return undefined
  const { name, region, geofenceId } = place
  return region === undefined || geofenceId !== undefined ? name : `${name}, ${region}`
}

/**
 * `Depot → Innere Stadt, Graz`; for a trip within a single place, only that name. Empty if no place
 * is known.
 */
export function wayText(start: Place, end: Place): string {
  const names = [start, end].map(placeText).filter((name) => name !== undefined)
  return [...new Set(names)].join(' → ')
}
