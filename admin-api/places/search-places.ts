import { createFairYielder } from '../../runtime/end-of-turn.ts'
import { metresBetween, type Coordinates } from '../../schemas/geo/distance.ts'
import type { GeofenceIndex } from '../../schemas/geo/geofence-index.ts'
import { gazetteer } from './gazetteer.ts'
import { foldName, matchName, type SearchedName } from './name-match.ts'
import { findNearestOfEach, type FoundStreet } from './nearest-street.ts'
import type { Streets } from './streets.ts'
import type { StreetTile } from './street-tile.ts'
import { findTowns } from './town-search.ts'

/** Streets are searched up to this far from the middle of the map. */
export const STREETS_WITHIN_METRES = 5_000
/** Maximum number of results of each kind; typing more letters narrows the search. */
const MOST_OF_A_KIND = 8
/** Towns are looked up for this many of the nearest streets. */
const MOST_CANDIDATES = 300

export type FoundPlace = Coordinates & {
  readonly kind: 'geofence' | 'street' | 'town'
  readonly name: string
  readonly region?: string
  readonly country?: string
  readonly geofenceId?: string
}

type Found = FoundPlace & { readonly match: number }
type Searching = {
  readonly accountId: string
  /** The middle of the map. */
  readonly near?: Coordinates | undefined
  readonly geofences: GeofenceIndex
  readonly streets: Streets
}

/**
 * Returns the matching places: exact names first, then the account's geofences and streets, then
 * towns, which may be far away.
 */
export async function searchPlaces(
  searched: SearchedName,
  searching: Searching,
): Promise<readonly FoundPlace[]> {
  const { near } = searching
  const towns = await findTowns(searched, { near, most: MOST_OF_A_KIND })
  const townMatch = towns[0]?.match === 0 ? 0 : 2
  const found = [
    ...pickBest(await findGeofences(searched, searching), near),
    ...(near === undefined ? [] : pickBest(await findStreets(searched, near, searching), near)),
    // Towns stay in their own order: large and near towns first.
    ...towns.map(({ town }): Found => ({ kind: 'town', ...town, match: townMatch })),
  ]
  return found.sort((a, b) => a.match - b.match).map(({ match: _, ...place }) => place)
}

async function findGeofences(
  searched: SearchedName,
  { accountId, geofences }: Searching,
): Promise<Found[]> {
  const found: Found[] = []
  const endTurn = createFairYielder(accountId)
  for (const { geofence, areas } of geofences.all()) {
    await endTurn()
    const { id: geofenceId, name } = geofence
    const match = matchName(searched, foldName(name))
    const box = areas[0]?.boxes[0]
    if (match === undefined || box === undefined) continue
    const middle = { latitude: (box.south + box.north) / 2, longitude: (box.west + box.east) / 2 }
    found.push({ kind: 'geofence', name, geofenceId, ...middle, match })
  }
  return found
}

const foldedNames = new WeakMap<StreetTile, readonly string[]>()

async function findStreets(
  searched: SearchedName,
  near: Coordinates,
  { accountId, streets }: Searching,
): Promise<Found[]> {
  const [first = ''] = searched.words
  const towns = await gazetteer()
  const endTurn = createFairYielder(accountId)
  const candidates: { street: FoundStreet; rank: number }[] = []
  for await (const placed of streets.around(near, STREETS_WITHIN_METRES)) {
    const folded = foldedNames.get(placed.tile) ?? placed.tile.names.map(foldName)
    foldedNames.set(placed.tile, folded)
    const isWanted = (name: number) => folded[name]?.includes(first) === true
    for (const street of findNearestOfEach(placed, near, STREETS_WITHIN_METRES, isWanted)) {
      candidates.push({ street, rank: matchName(searched, foldName(street.name)) ?? 3 })
    }
    await endTurn()
  }
  candidates.sort((a, b) => a.rank - b.rank || a.street.distanceMetres - b.street.distanceMetres)
  // Neighbouring towns may have streets with the same name: keep the nearest point of each.
  const found = new Map<string, Found>()
  for (const { street } of candidates.slice(0, MOST_CANDIDATES)) {
    await endTurn()
    const { name, latitude, longitude } = street
    const town = towns.nearest(street)
    const region = town?.region ?? town?.name
    const match = matchName(searched, foldName(name), () => region)
    const key = `${name}\n${region}`
    if (match === undefined || found.has(key)) continue
    const { country } = town ?? {}
    const whereabouts = { ...(region !== undefined && { region }), ...(country && { country }) }
    found.set(key, { kind: 'street', name, ...whereabouts, latitude, longitude, match })
  }
  return [...found.values()]
}

function pickBest(found: readonly Found[], near: Coordinates | undefined): Found[] {
  return found
    .map((place) => ({ place, metres: near === undefined ? 0 : metresBetween(near, place) }))
    .sort((a, b) => a.place.match - b.place.match || a.metres - b.metres)
    .slice(0, MOST_OF_A_KIND)
    .map(({ place }) => place)
}
