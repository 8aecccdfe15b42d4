import { objectOf, type JsonSchema } from '../../runtime/openapi/json-schema.ts'
import type { Coordinates } from '../../schemas/geo/distance.ts'
import type { Geofence } from '../../schemas/definitions/geofence.ts'
import type { GeofenceIndex } from '../../schemas/geo/geofence-index.ts'
import { gazetteer, type Gazetteer } from './gazetteer.ts'
import { AccountGeofences } from './account-geofences.ts'

type PlaceView = {
  readonly name: string
  readonly region?: string
  readonly country?: string
  readonly distanceMetres: number
  readonly geofenceId?: string
}

/** A geofence with a shorter side up to this is no larger than a town. */
const LARGEST_TOWN_METRES = 10_000

/** The name for a position, or null if none is known. */
export type NameOf = (position: Coordinates) => PlaceView | null

/** Names for positions, found without any external service. */
export class PlaceNames {
  readonly #geofences: AccountGeofences

  constructor(deps: ConstructorParameters<typeof AccountGeofences>[0]) {
    this.#geofences = new AccountGeofences(deps)
  }

  /** The account's enabled geofences, as in the names. */
  geofencesOf(accountId: string): Promise<GeofenceIndex> {
    return this.#geofences.of(accountId)
  }

  /** Includes the names of the account's geofences. */
  async of(accountId: string): Promise<NameOf> {
    const [towns, geofences] = await Promise.all([gazetteer(), this.#geofences.of(accountId)])
    return (position) => {
      const smallest = smallestAround(geofences, position)
      const town = towns.nearest(position) ?? null
      if (smallest === undefined) return town
      // For example, a country's name says less than the town's.
      if (smallest.metres > LARGEST_TOWN_METRES && town !== null) return town
      const { id: geofenceId, name } = smallest.geofence
      // The nearest town may be beyond a border.
      const region = town?.country === undefined ? undefined : town.region
      return { name, ...(region !== undefined && { region }), distanceMetres: 0, geofenceId }
    }
  }

  /** For people outside the account: without its geofences. */
  async ofAnyone(): Promise<NameOf> {
    const towns: Gazetteer = await gazetteer()
    return (position) => towns.nearest(position) ?? null
  }
}

type Around = { readonly geofence: Geofence; readonly metres: number }

/** The smallest geofence says most. */
function smallestAround(index: GeofenceIndex, position: Coordinates): Around | undefined {
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
      'The name of the geofence around it, unless it is larger than a town, or of the nearest town',
  },
  region: { type: 'string', description: 'The city, if the nearest town is a section of one' },
  country: {
    type: 'string',
    description:
      'ISO 3166-1 alpha-2, for example DE; absent where a town of another country is about as near, and of a geofence: borders are not known',
  },
  distanceMetres: { type: 'number', minimum: 0, description: 'To the centre of the town' },
  geofenceId: { type: 'string', description: 'Only for a geofence' },
}

/** The schema of `NameOf`'s answers. */
export const PLACE: JsonSchema = objectOf(FIELDS, {
  title: 'Place',
  type: ['object', 'null'],
  description: 'Null if no town is within 100 km',
  optional: ['region', 'country', 'geofenceId'],
})
