import { objectOf, type JsonSchema } from '../../runtime/openapi/json-schema.ts'
import type { Coordinates } from '../../schemas/geo/distance.ts'
import type { GeofenceIndex, PreparedGeofence } from '../../schemas/geo/geofence-index.ts'
import { gazetteer, type Gazetteer } from './gazetteer.ts'
import { AccountGeofences } from './account-geofences.ts'

type PlaceView = {
  readonly name: string
  readonly region?: string
  readonly country?: string
  readonly distanceMetres: number
  readonly geofenceId?: string
}

/** The name of a place, or null where none is known. */
export type NameOf = (position: Coordinates) => PlaceView | null

/** The names of places, found without any other service. */
export class PlaceNames {
  readonly #geofences: AccountGeofences

  constructor(deps: ConstructorParameters<typeof AccountGeofences>[0]) {
    this.#geofences = new AccountGeofences(deps)
  }

  /** With the names of the account's geofences. */
  async of(accountId: string): Promise<NameOf> {
    const [towns, geofences] = await Promise.all([gazetteer(), this.#geofences.of(accountId)])
    return (position) => {
      const { geofence } = smallestAround(geofences, position) ?? {}
      const town = towns.nearest(position) ?? null
      if (geofence === undefined) return town
      const { id: geofenceId, name } = geofence
      const { region, country } = town ?? {}
      return {
        name,
        ...(region !== undefined && { region }),
        ...(country !== undefined && { country }),
        distanceMetres: 0,
        geofenceId,
      }
    }
  }

  /** For people outside the account: nothing of its geofences. */
  async ofAnyone(): Promise<NameOf> {
    const towns: Gazetteer = await gazetteer()
    return (position) => towns.nearest(position) ?? null
  }
}

/** The smallest says most. */
function smallestAround(index: GeofenceIndex, position: Coordinates): PreparedGeofence | undefined {
  let smallest: PreparedGeofence | undefined
  let least = Infinity
  for (const one of index.around(position)) {
    for (const area of one.areas) {
      if (area.shorterSideMetres >= least || !area.contains(position)) continue
      least = area.shorterSideMetres
      smallest = one
    }
  }
  return smallest
}

const FIELDS = {
  name: {
    type: 'string',
    description: 'The name of the geofence around it, or of the nearest town',
  },
  region: { type: 'string', description: 'The city, where the nearest town is a section of one' },
  country: { type: 'string', description: 'ISO 3166-1 alpha-2, for example DE' },
  distanceMetres: { type: 'number', minimum: 0, description: 'To the middle of the town' },
  geofenceId: { type: 'string', description: 'Only of a geofence' },
}

/** The schema of `NameOf`'s answers. */
export const PLACE: JsonSchema = objectOf(FIELDS, {
  title: 'Place',
  type: ['object', 'null'],
  description: 'Null where no town is within 100 km',
  optional: ['region', 'country', 'geofenceId'],
})
