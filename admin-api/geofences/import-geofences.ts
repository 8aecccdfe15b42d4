import { randomBytes } from 'node:crypto'
import type { Clock } from '../../runtime/clock.ts'
import { createFairYielder } from '../../runtime/end-of-turn.ts'
import { ApiError, describeFaults, type Fault } from '../../runtime/errors.ts'
import { succeed } from '../../runtime/http/http.ts'
import { objectOf } from '../../runtime/openapi/json-schema.ts'
import { quoteName } from '../../schemas/access/keys-in-text.ts'
import { ulid } from '../../schemas/events/record-id.ts'
import type { GeofenceRefused, NewGeofence } from '../../store/definitions.ts'
import type { Store } from '../../store/store.ts'
import { route, type AdminContext, type AdminRoute, type Input } from '../http/admin-route.ts'
import type { Caller } from '../http/caller.ts'
import { recordAction } from '../http/record-action.ts'
import { choice, inputOf, parsedParts, type InputOf } from '../http/rule.ts'
import { BODY_LIMIT_BYTES } from './geofences.ts'
import {
  MOST_PROPERTIES,
  NEW_GEOFENCE,
  parseProperties,
  type GeofenceInput,
  messageOfRefusal,
} from './geofence-rules.ts'
import { isJsonObject } from '../../schemas/text/json-object.ts'

const MOST_FEATURES = 1_000

const FEATURES_EXPECTED = `features must be a list of 1 to ${MOST_FEATURES} GeoJSON features`

const COLLECTION = {
  type: choice(['FeatureCollection'], { expected: 'type must be FeatureCollection' }).required(),
  features: parsedParts<readonly unknown[]>(
    (value, field) =>
      Array.isArray(value) && value.length > 0 && value.length <= MOST_FEATURES
        ? { made: value as readonly unknown[] }
        : { faults: [{ field, message: FEATURES_EXPECTED }] },
    {
      type: 'array',
      minItems: 1,
      maxItems: MOST_FEATURES,
      items: { description: 'A GeoJSON feature; anything else gets an error in its result' },
    },
  ).required(),
}

type Read =
  | { readonly content: GeofenceInput; readonly leftOut: readonly string[] }
  | { readonly faults: readonly Fault[] }

/**
 * Creates geofences from a GeoJSON file; a faulty feature does not prevent the import of others.
 */
export function importGeofencesRoute({ store, clock }: { store: Store; clock: Clock }): AdminRoute {
  async function importAll(
    ctx: AdminContext,
    caller: Caller,
    { body: { features } }: Input<object, InputOf<typeof COLLECTION>>,
  ): Promise<void> {
    const { accountId } = caller
    const createdAt = clock.now()
    const read: Read[] = []
    const turn = createFairYielder(accountId)
    for (const [index, feature] of features.entries()) {
      read.push(readFeature(feature, { index, now: createdAt }))
      await turn()
    }
    const made = read.flatMap((one, index): { index: number; geofence: NewGeofence }[] => {
      if ('faults' in one) return []
      const id = ulid(createdAt, randomBytes(10))
      return [{ index, geofence: { ...one.content, id, accountId, createdAt } }]
    })
    const outcomes = await store.createGeofences(made.map(({ geofence }) => geofence))
    const byIndex = new Map(made.map(({ index }, n) => [index, outcomes[n]]))
    const results = read.map((one, index) => {
      if ('faults' in one) {
        return { index, error: 'INVALID_PARAMS', message: describeFaults(one.faults).message }
      }
      const outcome = byIndex.get(index)
      if (typeof outcome === 'object') {
        const { leftOut } = one
        return { index, id: outcome.id, ...(leftOut.length > 0 && { leftOut }) }
      }
      return { index, ...refusal(outcome ?? 'too many geofences') }
    })
    const created = results.flatMap((result) => ('id' in result ? [result.id] : []))
    if (created.length > 0) {
      const subject = { kind: 'geofences', id: accountId } as const
      const details = { created: created.length, refused: results.length - created.length }
      const action = { action: 'geofences.imported', subject, details }
      await recordAction(ctx, caller, action, { store, clock })
    }
    succeed(ctx, { created: created.length, refused: results.length - created.length, results })
  }

  return route({
    method: 'POST',
    path: '/geofences/import',
    summary: 'Creates geofences from a GeoJSON FeatureCollection',
    description: DESCRIPTION,
    needs: 'dispatcher',
    body: COLLECTION,
    bodyOthersIgnored: true,
    bodyExample: EXAMPLE,
    bodyLimitBytes: BODY_LIMIT_BYTES,
    answer: { data: IMPORTED },
    handle: importAll,
  })
}

/** Properties with a meaning; other properties become the geofence's properties, as texts. */
const KNOWN = ['name', 'externalId', 'deviceIds', 'labels', 'confirmSeconds', 'enabled'] as const

/**
 * Other programs write much more about a feature than a geofence can hold: the excess is omitted,
 * and reported.
 */
function readFeature(feature: unknown, { index, now }: { index: number; now: number }): Read {
  const field = `features[${index}]`
  const { type, id, geometry, properties } = isJsonObject(feature) ? feature : {}
  if (type !== 'Feature' || !isJsonObject(geometry)) {
    const message = `${field} must be a GeoJSON feature with a geometry`
    return { faults: [{ field, message }] }
  }
  const given = isJsonObject(properties) ? properties : {}
  const isPoint = geometry['type'] === 'Point'
  const nameField = Object.keys(given).find((key) => key.toLowerCase() === 'name') ?? 'name'
  const known: readonly string[] = [...KNOWN, nameField, ...(isPoint ? ['radius'] : [])]
  const others = Object.entries(given).filter(
    ([name, value]) => !known.includes(name) && value !== null,
  )
  const { fitting, leftOut } = fittingProperties(others)
  const externalId = textOf(given['externalId'] ?? undefined)
  const ownId = externalId === undefined ? textOf(id ?? undefined) : undefined
  const isIdFitting = 'made' in NEW_GEOFENCE.externalId.check(ownId, { field: 'id', now })
  const values = new Map<string, unknown>([
    ...KNOWN.map((name) => [name, given[name]] as const),
    ['name', textOf(given[nameField])],
    ['externalId', isIdFitting ? (externalId ?? ownId) : undefined],
    ['shape', isPoint ? circleOf(geometry, given['radius']) : shapeOf(geometry)],
    ['properties', fitting],
  ])
  try {
    const content = inputOf(NEW_GEOFENCE, { read: (name) => values.get(name), now })
    return { content, leftOut: isIdFitting ? leftOut : ['id', ...leftOut] }
  } catch (error) {
    if (error instanceof ApiError && error.details !== undefined) return { faults: error.details }
    throw error
  }
}

/** The first properties that a geofence can have, as texts. */
function fittingProperties(properties: readonly (readonly [name: string, value: unknown])[]) {
  const fitting: [name: string, text: unknown][] = []
  const leftOut: string[] = []
  for (const [name, value] of properties) {
    const text = textOf(value)
    const fits = 'made' in parseProperties({ [name]: text }, 'properties')
    if (fits && fitting.length < MOST_PROPERTIES) fitting.push([name, text])
    else leftOut.push(quoteName(name))
  }
  return { fitting: fitting.length > 0 ? Object.fromEntries(fitting) : undefined, leftOut }
}

function circleOf({ coordinates }: Readonly<Record<string, unknown>>, radius: unknown) {
  const [longitude, latitude] = Array.isArray(coordinates) ? (coordinates as unknown[]) : []
  return { type: 'circle', latitude, longitude, radius }
}

/** Without the members added by other programs. */
function shapeOf({ type, coordinates }: Readonly<Record<string, unknown>>) {
  return { type, coordinates }
}

/** Lists and objects are not texts. */
function textOf(value: unknown): unknown {
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value
}

function refusal(refused: GeofenceRefused) {
  const error = refused === 'external id taken' ? 'CONFLICT' : 'INVALID_PARAMS'
  return { error, message: messageOfRefusal(refused) }
}

const DESCRIPTION = `
Takes polygons, multipolygons, and points with a property \`radius\` in metres, in files as written by QGIS, overpass turbo, GeoServer and
ArcGIS; other members are ignored. \`name\` is required; \`externalId\` (else the feature's \`id\`), \`deviceIds\`,
\`labels\`, \`confirmSeconds\` and \`enabled\` mean the same as elsewhere. The first ten other properties that are a text of at
most 256 characters, a number or a boolean become the geofence's properties, as texts; \`leftOut\` names the rest. Each feature
succeeds or fails separately.
`.trim()

const EXAMPLE = {
  type: 'FeatureCollection',
  features: [
    {
      type: 'Feature',
      geometry: { type: 'Point', coordinates: [13.7142, 45.2735] },
      properties: { name: 'Depot', externalId: 'depot-1', radius: 150 },
    },
  ],
}

const IMPORTED = objectOf(
  {
    created: { type: 'integer' },
    refused: { type: 'integer' },
    results: {
      type: 'array',
      description: 'In the order of `features`: the id of the new geofence, or an error',
      items: objectOf(
        {
          index: { type: 'integer' },
          id: { type: 'string' },
          leftOut: {
            type: 'array',
            items: { type: 'string' },
            description:
              'Properties that a geofence cannot have; `id` if that of the feature is none',
          },
          error: { enum: ['INVALID_PARAMS', 'CONFLICT'] },
          message: { type: 'string' },
        },
        { title: 'ImportedGeofence', optional: ['id', 'leftOut', 'error', 'message'] },
      ),
    },
  },
  { title: 'ImportedGeofences' },
)
