import { objectOf, type JsonSchema } from '../../runtime/openapi/json-schema.ts'
import type { Coordinates } from '../../schemas/geo/distance.ts'
import type { Geofence } from '../../schemas/definitions/geofence.ts'
import type { GeofenceIndex } from '../../schemas/geo/geofence-index.ts'
import { createFairYielder } from '../../runtime/end-of-turn.ts'
import { gazetteer, type NamedPlace } from './gazetteer.ts'
import type { AccountGeofences } from './account-geofences.ts'
import type { FoundStreet } from './nearest-street.ts'
import type { Streets } from './streets.ts'

/** A place as the API shows it. */
export type PlaceView = {
  readonly name: string
  readonly region?: string
  readonly country?: string
  readonly distanceMetres: number
  readonly geofenceId?: string
  readonly isStreet?: true
}

/** A geofence with a shorter side up to this is no larger than a town. */
const LARGEST_TOWN_METRES = 10_000
/** A street this far from the nearest town gets no town name. */
const FARTHEST_TOWN_METRES = 25_000

/** The name for a position, or null if none is known. */
export type NameOf = (position: Coordinates) => PlaceView | null | Promise<PlaceView | null>

/** Names for positions, found without any external service. */
export class PlaceNames {
  readonly #geofences: AccountGeofences
  readonly #streets: Streets

  constructor({ geofences, streets }: { geofences: AccountGeofences; streets: Streets }) {
    this.#geofences = geofences
    this.#streets = streets
  }

  /** Includes the names of the account's geofences. Other work runs between many names. */
  async of(accountId: string): Promise<NameOf> {
    const [towns, geofences] = await Promise.all([gazetteer(), this.#geofences.of(accountId)])
    const endTurn = createFairYielder(accountId)
    return async (position) => {
      await endTurn()
      const smallest = findSmallestAround(geofences, position)
      const town = towns.nearest(position)
      const isLarge = smallest === undefined || smallest.metres > LARGEST_TOWN_METRES
      const street = isLarge ? await this.#streets.nearest(position) : undefined
      const place = streetOrTown(street, town)
      if (smallest === undefined) return place
      // For example, a country's name says less than the town's.
      if (isLarge && place !== null) return place
      const { id: geofenceId, name } = smallest.geofence
      // The nearest town may be beyond a border.
      const region = town?.country === undefined ? undefined : town.region
      return { name, ...(region !== undefined && { region }), distanceMetres: 0, geofenceId }
    }
  }

  /** Names places for people outside the account, without its geofences. */
  async ofAnyone(): Promise<NameOf> {
    const towns = await gazetteer()
    return async (position) =>
      streetOrTown(await this.#streets.nearest(position), towns.nearest(position))
  }

  /**
   * Like `ofAnyone`, but without waiting: streets not read yet are missing now, and are loaded for
   * the next position.
   */
  async ofAnyoneAtOnce(): Promise<(position: Coordinates) => PlaceView | null> {
    const towns = await gazetteer()
    return (position) => streetOrTown(this.#streets.nearestRead(position), towns.nearest(position))
  }
}

/** Returns the street with its town, if there is a street nearby, otherwise the town. */
function streetOrTown(
  street: FoundStreet | undefined,
  town: NamedPlace | undefined,
): PlaceView | null {
  if (street === undefined) return town ?? null
  const { name, distanceMetres } = street
  const isNear = town !== undefined && town.distanceMetres <= FARTHEST_TOWN_METRES
  return {
    name,
    ...(isNear && { region: town.region ?? town.name }),
    ...(town?.country !== undefined && { country: town.country }),
    distanceMetres: Math.round(distanceMetres),
    isStreet: true,
  }
}

type Around = { readonly geofence: Geofence; readonly metres: number }

/** Finds the smallest geofence around a position, which is the most informative. */
function findSmallestAround(index: GeofenceIndex, position: Coordinates): Around | undefined {
  let smallest: Around | undefined
  for (const { geofence, areas } of index.around(position)) {
    for (const area of areas) {
      const metres = area.shorterSideMetres
      if (metres >= (smallest?.metres ?? Infinity) || !area.contains(position)) continue
      smallest = { geofence, metres }
    }
  }
  return smallest
}

const FIELDS = {
  name: {
    type: 'string',
    description:
      'The name of the geofence around it, unless it is larger than a town; else of the nearest street, if the service has a file of streets; else of the nearest town',
  },
  region: {
    type: 'string',
    description:
      'Of a street its town; otherwise the city, if the nearest town is a section of one',
  },
  country: {
    type: 'string',
    description:
      'ISO 3166-1 alpha-2, for example DE; absent where a town of another country is about as near, and of a geofence: borders are not known',
  },
  distanceMetres: {
    type: 'number',
    minimum: 0,
    description: 'To the street, or to the centre of the town',
  },
  geofenceId: { type: 'string', description: 'Only for a geofence' },
  isStreet: { const: true, description: 'Only for a street' },
}

/** The schema of `NameOf`'s answers. */
export const PLACE: JsonSchema = objectOf(FIELDS, {
  title: 'Place',
  type: ['object', 'null'],
  description: 'Null if no town is within 100 km',
  optional: ['region', 'country', 'geofenceId', 'isStreet'],
})
