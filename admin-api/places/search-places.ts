import { createFairYielder } from '../../runtime/end-of-turn.ts'
import { metresBetween, type Coordinates } from '../../schemas/geo/distance.ts'
import type { GeofenceIndex } from '../../schemas/geo/geofence-index.ts'
import { gazetteer, type Gazetteer } from './gazetteer.ts'
import { foldName, matchName, type NameMatch, type SearchedName } from './name-match.ts'
import { leastMetres, nearestIn, type FoundStreet, type PlacedTile } from './nearest-street.ts'
import type { Streets } from './streets.ts'
import type { StreetTile } from './street-tile.ts'
import { TownSearch } from './town-search.ts'

/** Streets are searched up to this far from the middle of the map. */
export const STREETS_WITHIN_METRES = 5_000
/** Of each kind; more letters find others. */
const MOST_OF_A_KIND = 8
/** Streets whose towns are looked up, the nearest ones. */
const MOST_CANDIDATES = 200
const RANKS: Readonly<Record<NameMatch, number>> = { whole: 0, beginning: 1, words: 2 }

export type FoundPlace = Coordinates & {
  readonly kind: 'geofence' | 'street' | 'town'
  readonly name: string
  readonly region?: string
  readonly country?: string
  readonly geofenceId?: string
}

type Found = FoundPlace & { readonly match: NameMatch }
type Searching = {
  readonly near?: Coordinates | undefined
  readonly endTurn: () => Promise<void>
}

let towns: Promise<TownSearch> | undefined

/**
 * The places that a search finds: whole names first; among others, own geofences and streets before
 * towns, which may be far. `near`: the middle of the map.
 */
export async function searchPlaces(
  searched: SearchedName,
  {
    accountId,
    near,
    geofences,
    streets,
  }: {
    accountId: string
    near?: Coordinates | undefined
    geofences: GeofenceIndex
    streets: Streets
  },
): Promise<readonly FoundPlace[]> {
  const all = await gazetteer()
  towns ??= TownSearch.of(all)
  const known = await towns
  const searching = { near, endTurn: createFairYielder(accountId) }
  const foundTowns = known.find(searched, { near, most: MOST_OF_A_KIND })
  const townMatch = foundTowns[0]?.match === 'whole' ? 'whole' : 'words'
  const found: Found[] = [
    ...(await findGeofences(searched, geofences, searching)),
    ...(near === undefined
      ? []
      : await findStreets(searched, streets, all, { ...searching, near })),
    ...foundTowns.map(({ town }): Found => ({ kind: 'town', ...town, match: townMatch })),
  ]
  return found
    .sort((a, b) => RANKS[a.match] - RANKS[b.match])
    .map(({ match: _, ...place }) => place)
}

async function findGeofences(
  searched: SearchedName,
  geofences: GeofenceIndex,
  { near, endTurn }: Searching,
): Promise<Found[]> {
  const found: Found[] = []
  for (const { geofence, areas } of geofences.all()) {
    await endTurn()
    const match = matchName(searched, foldName(geofence.name))
    const box = areas[0]?.boxes[0]
    if (match === undefined || box === undefined) continue
    const middle = { latitude: (box.south + box.north) / 2, longitude: (box.west + box.east) / 2 }
    found.push({ kind: 'geofence', name: geofence.name, geofenceId: geofence.id, ...middle, match })
  }
  return nearestFirst(found, near)
}

const foldedNames = new WeakMap<StreetTile, readonly string[]>()

async function findStreets(
  searched: SearchedName,
  streets: Streets,
  all: Gazetteer,
  { near, endTurn }: Searching & { near: Coordinates },
): Promise<Found[]> {
  const candidates: { placed: PlacedTile; name: number; rank: number; metres: number }[] = []
  // The first word must be in the name; others may be in that of the town.
  const [first = ''] = searched.words
  for await (const placed of streets.around(near, STREETS_WITHIN_METRES)) {
    const { tile } = placed
    const names = foldedNames.get(tile) ?? tile.names.map(foldName)
    foldedNames.set(tile, names)
    const least = leastMetres(placed, near)
    for (const [name, folded] of names.entries()) {
      const metres = least[name] as number
      if (metres > STREETS_WITHIN_METRES || !folded.includes(first)) continue
      const match = matchName(searched, folded)
      candidates.push({ placed, name, metres, rank: match === undefined ? 3 : RANKS[match] })
    }
    await endTurn()
  }
  candidates.sort((a, b) => a.rank - b.rank || a.metres - b.metres)
  // Neighbouring towns may have streets of one name.
  const found = new Map<string, Found>()
  for (const { placed, name } of candidates.slice(0, MOST_CANDIDATES)) {
    await endTurn()
    const street = nearestIn(placed, near, STREETS_WITHIN_METRES, (one) => one === name)
    const place = street && streetPlace(street, searched, all)
    if (place === undefined) continue
    const key = `${place.name}\n${place.region}`
    const before = found.get(key)
    if (before === undefined || metresBetween(near, place) < metresBetween(near, before))
      found.set(key, place)
    if (found.size === MOST_OF_A_KIND) break
  }
  return nearestFirst([...found.values()], near)
}

function streetPlace(
  { name, latitude, longitude }: FoundStreet,
  searched: SearchedName,
  all: Gazetteer,
): Found | undefined {
  const town = all.nearest({ latitude, longitude })
  const region = town?.region ?? town?.name
  const match = matchName(searched, foldName(name), foldName(region ?? ''))
  if (match === undefined) return undefined
  const whereabouts = {
    ...(region !== undefined && { region }),
    ...(town?.country !== undefined && { country: town.country }),
  }
  return { kind: 'street', name, ...whereabouts, latitude, longitude, match }
}

function nearestFirst(found: readonly Found[], near: Coordinates | undefined): Found[] {
  const distance = (place: Found) => (near === undefined ? 0 : metresBetween(near, place))
  return found
    .map((place) => ({ place, rank: RANKS[place.match], metres: distance(place) }))
    .sort((a, b) => a.rank - b.rank || a.metres - b.metres)
    .slice(0, MOST_OF_A_KIND)
    .map(({ place }) => place)
}
