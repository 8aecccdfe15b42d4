import { invalidParams } from '../../runtime/errors.ts'
import { succeed } from '../../runtime/http/http.ts'
import { objectOf } from '../../runtime/openapi/json-schema.ts'
import { metresBetween } from '../../schemas/geo/distance.ts'
import { route, type AdminContext, type AdminRoute, type Input } from '../http/admin-route.ts'
import type { Caller } from '../http/caller.ts'
import { textParameter } from '../http/query.ts'
import { parsedValue, type InputOf } from '../http/rule.ts'
import type { AccountGeofences } from './account-geofences.ts'
import { searchKeyOf } from './name-match.ts'
import { parseCoordinates } from './places.ts'
import { searchPlaces, STREETS_WITHIN_METRES } from './search-places.ts'
import type { Streets } from './streets.ts'

const PARAMETERS = {
  q: textParameter('q', 100).described(
    'The beginnings of words of the name; without it nothing is found',
  ),
  near: parsedValue({
    parse: parseCoordinates,
    expected: 'near must be a latitude and a longitude in degrees, for example 52.52,13.405',
    openapi: { type: 'string' },
  }).described('`latitude,longitude` of the centre of the viewed region'),
}

/** Finds places by name. */
export function placeSearchRoute({
  geofences,
  streets,
}: {
  geofences: AccountGeofences
  streets: Streets
}): AdminRoute {
  async function search(
    ctx: AdminContext,
    { accountId }: Caller,
    { query: { q, near } }: Input<InputOf<typeof PARAMETERS>>,
  ): Promise<void> {
    if (q === undefined) return succeed(ctx, { items: [] })
    const searched = searchKeyOf(q)
    if (searched === undefined) {
      throw invalidParams([{ field: 'q', message: 'q must have a letter or a digit' }])
    }
    const own = await geofences.of(accountId)
    const found = await searchPlaces(searched, { accountId, near, geofences: own, streets })
    const items = found.map((place) => ({
      ...place,
      distanceMetres: near === undefined ? null : Math.round(metresBetween(near, place)),
    }))
    succeed(ctx, { items })
  }

  return route({
    method: 'GET',
    path: '/places/search',
    summary: 'Finds places by name',
    description: DESCRIPTION,
    needs: 'viewer',
    scope: 'positions:read',
    query: PARAMETERS,
    compressed: true,
    answer: { data: FOUND_PLACES },
    handle: search,
  })
}

const DESCRIPTION = `
At most eight of each kind: the account's enabled geofences, towns of the whole world (GeoNames), and, with \`near\`, the streets within
${STREETS_WITHIN_METRES / 1_000} km of it in the PMTiles files of the service. Each word of \`q\` must begin a word of the name, or after the first one
of the town: \`markt mus\` finds Marktstraße in Musterstadt. Case and accents do not matter. Nothing is sent to anyone.
`.trim()

const FOUND_PLACES = objectOf(
  {
    items: {
      type: 'array',
      description: 'Whole names first; among others, geofences and streets before towns',
      items: objectOf(
        {
          kind: { enum: ['geofence', 'street', 'town'] },
          name: { type: 'string' },
          region: { type: 'string', description: 'The town of a street; the city of its section' },
          country: { type: 'string', description: 'ISO 3166-1 alpha-2' },
          latitude: { type: 'number', minimum: -90, maximum: 90 },
          longitude: { type: 'number', minimum: -180, maximum: 180 },
          distanceMetres: { type: ['number', 'null'], description: 'From `near`' },
          geofenceId: { type: 'string', description: 'Only of a geofence' },
        },
        { title: 'FoundPlace', optional: ['region', 'country', 'geofenceId'] },
      ),
    },
  },
  { title: 'FoundPlaces' },
)
