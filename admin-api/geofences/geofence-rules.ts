import { LARGEST_LONGITUDE, parseShape, RADIUS_METRES } from '../../schemas/geo/parse-shape.ts'
import {
  LONGEST_CONFIRM_SECONDS,
  MOST_VERTICES,
  verticesOf,
  type Geofence,
  type GeofenceShape,
  MOST_DEFINITION_BYTES,
  MOST_GEOFENCES,
  MOST_VERTICES_OF_ACCOUNT,
} from '../../schemas/definitions/geofence.ts'
import { containsApiKey } from '../../schemas/access/keys-in-text.ts'
import { objectOf, type JsonSchema } from '../../runtime/openapi/json-schema.ts'
import { type Fault, ApiError, invalidParams } from '../../runtime/errors.ts'
import { fieldPath } from '../../schemas/report/field-path.ts'
import type { Adoption, GeofenceRefused } from '../../store/definitions.ts'
import {
  ID,
  optional,
  readOnly,
  required,
  rulesOf,
  VERSION_FIELDS,
  withDefault,
} from '../http/resource-fields.ts'
import { nameRule } from '../http/name-rule.ts'
import { flag, parsedParts, wholeNumber, type InputOf } from '../http/rule.ts'
import { SELECTION_FIELDS } from './selection-rules.ts'
import { isJsonObject } from '../../schemas/text/json-object.ts'

export const MOST_PROPERTIES = 10
const LONGEST_PROPERTY = 256
const LONGEST_PROPERTY_NAME = 64

const DEGREES = (most: number) => ({ type: 'number', minimum: -most, maximum: most })
const POSITION = {
  type: 'array',
  description: 'Longitude and latitude',
  items: { type: 'number' },
  minItems: 2,
}
const RINGS = {
  type: 'array',
  minItems: 1,
  description: 'The outer ring, then its holes',
  items: { type: 'array', items: POSITION, minItems: 4 },
}

const SHAPE: JsonSchema = {
  title: 'Shape',
  description: `A circle, its radius in metres, or a GeoJSON geometry of at most ${MOST_VERTICES} vertices. Edges are straight in longitude and latitude, and go the short way round; either winding will do. Longitudes beyond ±180 are stored within`,
  oneOf: [
    objectOf(
      {
        type: { const: 'circle' },
        latitude: DEGREES(90),
        longitude: DEGREES(LARGEST_LONGITUDE),
        radius: { type: 'number', minimum: RADIUS_METRES[0], maximum: RADIUS_METRES[1] },
      },
      { title: 'Circle' },
    ),
    objectOf({ type: { const: 'Polygon' }, coordinates: RINGS }, { title: 'Polygon' }),
    objectOf(
      {
        type: { const: 'MultiPolygon' },
        coordinates: { type: 'array', items: RINGS, minItems: 1 },
      },
      { title: 'MultiPolygon' },
    ),
  ],
}

const PROPERTIES: JsonSchema = {
  type: 'object',
  additionalProperties: { type: 'string', maxLength: LONGEST_PROPERTY },
  maxProperties: MOST_PROPERTIES,
}

const properties = parsedParts(parseProperties, PROPERTIES).described(
  'Texts that every event about it carries; a change replaces all of them',
)

export const GEOFENCE_FIELDS = {
  id: ID,
  name: required(nameRule('name')),
  externalId: optional(
    nameRule('externalId', { max: 128 }).described(
      'The id of another system, unique in the account',
    ),
  ),
  shape: required(parsedParts(parseShape, SHAPE), {
    audited: ({ shape }: Geofence) => briefShape(shape),
  }),
  properties: { shown: PROPERTIES, created: properties, changed: properties, isOptional: true },
  ...SELECTION_FIELDS,
  confirmSeconds: withDefault(
    wholeNumber({
      min: 0,
      max: LONGEST_CONFIRM_SECONDS,
      expected: `confirmSeconds must be a whole number from 0 to ${LONGEST_CONFIRM_SECONDS}`,
    }).described('How long a device must stay on the new side before it has entered or left'),
    0,
  ),
  enabled: withDefault(flag('enabled'), true),
  ...VERSION_FIELDS,
  adopting: readOnly(
    objectOf(
      { done: { type: 'integer' }, total: { type: 'integer' } },
      {
        title: 'Adopting',
        description:
          'Only while devices near a new or changed geofence are being checked: those already inside are then in it, without an event',
      },
    ),
    { view: viewAdoption, isOptional: true },
  ),
}

export const NEW_GEOFENCE = rulesOf(GEOFENCE_FIELDS, 'created')
export type GeofenceInput = InputOf<typeof NEW_GEOFENCE>

/** `adoption`: the account's; absent: not requested. */
export type ShownGeofence = Geofence & { readonly adoption?: Adoption | undefined }

function viewAdoption({ enabled, inForceSince, adoption }: ShownGeofence) {
  const { running } = adoption ?? {}
  if (!enabled || running === undefined) return undefined
  const { from, to, done, total } = running
  return from <= inForceSince && inForceSince <= to ? { done, total } : undefined
}

/** A shape may have a thousand vertices. */
function briefShape(shape: GeofenceShape): object {
  if (shape.type === 'circle') return shape
  return { type: shape.type, vertices: verticesOf(shape) }
}

/** The properties of a geofence, or their faults. */
export function parseProperties(
  value: unknown,
  field: string,
): { readonly made: Readonly<Record<string, string>> } | { readonly faults: readonly Fault[] } {
  const expected = `${field} must be an object with at most ${MOST_PROPERTIES} texts`
  const entries = isJsonObject(value) ? Object.entries(value) : []
  if (!isJsonObject(value) || entries.length > MOST_PROPERTIES) {
    return { faults: [{ field, message: expected }] }
  }
  const faults = entries.flatMap(([name, text]: [string, unknown]) => {
    const at = fieldPath([field, name])
    if (name.length > LONGEST_PROPERTY_NAME || !name.isWellFormed()) {
      const message = `${at} must have a name of at most ${LONGEST_PROPERTY_NAME} characters`
      return [{ field: at, message }]
    }
    if (typeof text !== 'string' || text.length > LONGEST_PROPERTY || !text.isWellFormed()) {
      const message = `${at} must be a text of at most ${LONGEST_PROPERTY} characters`
      return [{ field: at, message }]
    }
    if (!containsApiKey(text) && !containsApiKey(name)) return []
    const message = `${at} must not be or contain an API key: everybody who may read would see it`
    return [{ field: at, message }]
  })
  return faults.length > 0 ? { faults } : { made: value as Readonly<Record<string, string>> }
}

const EXTERNAL_ID_TAKEN =
  'another geofence has this externalId: change it with PUT /api/v1/geofences/by-external-id/…'

export const TOO_LARGE = `too large: the geofences, rules and notifications of an account have at most ${MOST_DEFINITION_BYTES / 1024 / 1024} MiB together: remove some, or name fewer devices by labels`

/** The message for a geofence that the account has no room for. */
export function messageOfRefusal(refused: GeofenceRefused): string {
  switch (refused) {
    case 'external id taken':
      return EXTERNAL_ID_TAKEN
    case 'too many geofences':
      return `an account has at most ${MOST_GEOFENCES} geofences: delete some first`
    case 'too many vertices':
      return `the geofences of an account have at most ${MOST_VERTICES_OF_ACCOUNT} vertices together: delete or simplify some first`
    case 'too large':
      return TOO_LARGE
  }
}

/** @throws {ApiError} 409 for an external id already in use, 400 for too many geofences. */
export function requireStored(outcome: Geofence | GeofenceRefused): Geofence {
  if (typeof outcome === 'object') return outcome
  const message = messageOfRefusal(outcome)
  if (outcome === 'external id taken') throw new ApiError('CONFLICT', message)
  throw invalidParams([{ field: 'shape', message }])
}
