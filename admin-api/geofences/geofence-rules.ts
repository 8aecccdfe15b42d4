import { parseShape, RADIUS_METRES } from '../../schemas/geo/parse-shape.ts'
import {
  LONGEST_CONFIRM_SECONDS,
  MOST_VERTICES,
  type GeofenceContent,
} from '../../schemas/definitions/geofence.ts'
import { containsApiKey } from '../../schemas/access/keys-in-text.ts'
import { objectOf, type JsonSchema } from '../../runtime/openapi/json-schema.ts'
import type { Fault } from '../../runtime/errors.ts'
import { fieldPath } from '../../schemas/report/field-path.ts'
import { nameRule } from '../http/name-rule.ts'
import { flag, parsedParts, wholeNumber, type InputOf } from '../http/rule.ts'
import { SELECTION } from './selection-rules.ts'
import { isJsonObject } from '../../schemas/text/json-object.ts'

const MOST_PROPERTIES = 10
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

export const SHAPE: JsonSchema = {
  title: 'Shape',
  description: `A circle, its radius in metres, or a GeoJSON geometry of at most ${MOST_VERTICES} vertices. Edges are straight in longitude and latitude, and go the short way round; either winding will do`,
  oneOf: [
    objectOf(
      {
        type: { const: 'circle' },
        latitude: DEGREES(90),
        longitude: DEGREES(180),
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

export const PROPERTIES: JsonSchema = {
  type: 'object',
  additionalProperties: { type: 'string', maxLength: LONGEST_PROPERTY },
  maxProperties: MOST_PROPERTIES,
}

const FIELDS = {
  name: nameRule('name'),
  externalId: nameRule('externalId', { max: 128 }).described(
    'The id of another system, unique in the account',
  ),
  shape: parsedParts(parseShape, SHAPE),
  properties: parsedParts(parseProperties, PROPERTIES).described(
    'Texts that every fact about it has; a change replaces all of them',
  ),
  deviceIds: SELECTION.deviceIds,
  labels: SELECTION.labels,
  confirmSeconds: wholeNumber({
    min: 0,
    max: LONGEST_CONFIRM_SECONDS,
    expected: `confirmSeconds must be a whole number from 0 to ${LONGEST_CONFIRM_SECONDS}`,
  }).described('How long a device must stay on the new side before it has entered or left'),
  enabled: flag('enabled'),
}

export const NEW_GEOFENCE = {
  name: FIELDS.name.required(),
  externalId: FIELDS.externalId.nullIsAbsence(),
  shape: FIELDS.shape.required(),
  properties: FIELDS.properties,
  deviceIds: FIELDS.deviceIds.nullIsAbsence(),
  labels: FIELDS.labels.nullIsAbsence(),
  confirmSeconds: FIELDS.confirmSeconds.nullIsAbsence().withDefault(0),
  enabled: FIELDS.enabled.nullIsAbsence().withDefault(true),
}

/** `null` takes an optional field away. */
export const GEOFENCE_CHANGES = {
  name: FIELDS.name,
  externalId: FIELDS.externalId.orNull(),
  shape: FIELDS.shape,
  properties: FIELDS.properties,
  deviceIds: FIELDS.deviceIds.orNull(),
  labels: FIELDS.labels.orNull(),
  confirmSeconds: FIELDS.confirmSeconds,
  enabled: FIELDS.enabled,
}

export type GeofenceInput = InputOf<typeof NEW_GEOFENCE>
export type GeofenceChange = InputOf<typeof GEOFENCE_CHANGES>

/** The content with these fields changed; empty properties are none. */
export function withChange(before: GeofenceContent, change: GeofenceChange): GeofenceContent {
  const changed = Object.entries({ ...before, ...change }).filter(([, value]) => value !== null)
  return Object.fromEntries(changed) as unknown as GeofenceContent
}

function parseProperties(
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
