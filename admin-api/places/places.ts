import { succeed } from '../../runtime/http/http.ts'
import type { Coordinates } from '../../schemas/geo/distance.ts'
import { route, type AdminContext, type AdminRoute, type Input } from '../http/admin-route.ts'
import type { Caller } from '../http/caller.ts'
import { list, parsedValue, type InputOf } from '../http/rule.ts'
import { objectOf } from '../../runtime/openapi/json-schema.ts'
import { PLACE, type PlaceNames } from './place-names.ts'

const MOST_PLACES = 200
const EXPECTED = `at must be a latitude and a longitude in degrees, for example 52.52,13.405, given 1 to ${MOST_PLACES} times`

const PARAMETERS = {
  at: list(
    parsedValue({ parse: parseCoordinates, expected: EXPECTED, openapi: { type: 'string' } }),
    {
      max: MOST_PLACES,
      expected: EXPECTED,
      mayRepeat: true,
    },
  ).described('`latitude,longitude`; may be repeated'),
}

/** Returns place names for positions. */
export function placesRoute({ placeNames }: { placeNames: PlaceNames }): AdminRoute {
  async function show(
    ctx: AdminContext,
    { accountId }: Caller,
    { query }: Input<InputOf<typeof PARAMETERS>>,
  ): Promise<void> {
    const nameOf = await placeNames.of(accountId)
    const items: Awaited<ReturnType<typeof nameOf>>[] = []
    for (const at of query.at ?? []) items.push(await nameOf(at))
    succeed(ctx, { items })
  }

  return route({
    method: 'GET',
    path: '/places',
    summary: 'Returns place names for positions',
    description: DESCRIPTION,
    needs: 'viewer',
    scope: 'positions:read',
    query: PARAMETERS,
    compressed: true,
    answer: { data: PLACES },
    handle: show,
  })
}

const DESCRIPTION = `
Names in the order of \`at\`, from the account's geofences, the named streets of the service's PMTiles files (\`MAP_PMTILES\`) within
100 m, and a gazetteer that is part of the service (GeoNames, CC BY 4.0: name it as the source): nothing is sent to anyone. A place
in several geofences has the name of the smallest; one that is larger than a town (10 km) hides no street and no town. The
gazetteer has no borders: near one, and in a geofence, \`country\` is omitted.
`.trim()

const NUMBER = String.raw`[+-]?(?:\d{1,3}(?:\.\d{0,20})?|\.\d{1,20})`
const COORDINATES = new RegExp(`^(${NUMBER}),(${NUMBER})$`)

/** `latitude,longitude` in degrees. */
export function parseCoordinates(text: string): Coordinates | undefined {
  const [, latitude, longitude] = (COORDINATES.exec(text) ?? []).map(Number)
  if (latitude === undefined || longitude === undefined) return undefined
  if (Math.abs(latitude) > 90 || Math.abs(longitude) > 180) return undefined
  return { latitude, longitude }
}

const PLACES = objectOf({ items: { type: 'array', items: PLACE } }, { title: 'Places' })
