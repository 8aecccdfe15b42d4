import { isoTime } from '../../schemas/text/iso-8601.ts'
import { ATTRIBUTES_SCHEMA } from '../../schemas/report/attributes.ts'
import type { NewerTelemetry } from '../../schemas/devices/device-readings.ts'
import { COORDINATE_FIELDS, MEASUREMENT_FIELDS } from '../../schemas/report/report-fields.ts'
import { objectOf } from '../../runtime/openapi/json-schema.ts'
import type { JsonSchema } from './admin-route.ts'

export { positionView, recordView } from '../../schemas/devices/read-models.ts'

/** A time in the API's format: `YYYY-MM-DDTHH:mm:ss.sssZ`. */
export { isoTime }

/** The OpenAPI schema of a time. */
export const TIME: JsonSchema = { type: 'string', format: 'date-time' }

/** A device's telemetry received after its last position. */
export function telemetryView({ receivedAt, battery, attributes }: NewerTelemetry) {
  return {
    receivedAt: isoTime(receivedAt),
    ...(battery !== undefined && { battery }),
    ...(attributes !== undefined && { attributes }),
  }
}

const ATTRIBUTES: JsonSchema = { title: 'Attributes', ...ATTRIBUTES_SCHEMA }

const POSITION_PROPERTIES: JsonSchema = {
  recordId: { type: 'string', description: 'ULID' },
  ...Object.fromEntries(
    COORDINATE_FIELDS.map(({ name, range: [minimum, maximum] }) => [
      name,
      { type: 'number', minimum, maximum },
    ]),
  ),
  timestamp: { ...TIME, description: 'When the position was recorded' },
  receivedAt: { ...TIME, description: 'When the report was received' },
  ...Object.fromEntries(
    MEASUREMENT_FIELDS.map(({ name, meaning }) => [name, { type: 'number', description: meaning }]),
  ),
  attributes: ATTRIBUTES,
  imported: {
    // Neither `const` nor `enum`: generators write faulty Python for an optional one.
    type: 'boolean',
    description:
      'Always true: recorded earlier elsewhere, and imported as history. Absent from others',
  },
}
const POSITION_REQUIRED = ['recordId', 'latitude', 'longitude', 'timestamp', 'receivedAt']

export const POSITION: JsonSchema = {
  title: 'LastPosition',
  type: 'object',
  required: POSITION_REQUIRED,
  properties: POSITION_PROPERTIES,
  additionalProperties: false,
}

export const RECORD: JsonSchema = {
  title: 'Record',
  type: 'object',
  required: [...POSITION_REQUIRED, 'deviceId'],
  properties: { ...POSITION_PROPERTIES, deviceId: { type: 'string' } },
  additionalProperties: false,
}

export const TELEMETRY: JsonSchema = objectOf(
  {
    receivedAt: { ...TIME, description: 'When they were received' },
    battery: { type: 'number', description: 'A fraction from 0 to 1' },
    attributes: ATTRIBUTES,
  },
  {
    title: 'Telemetry',
    optional: ['battery', 'attributes'],
    description:
      'The newest battery and attributes, as one unit, from heartbeats and from repeats of the last position. ' +
      'Absent while those of lastPosition are the newest',
  },
)
