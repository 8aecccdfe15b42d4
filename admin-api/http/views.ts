import { isoTime } from '../../schemas/iso-8601.ts'
import { MEASUREMENTS } from '../../schemas/position-reported.ts'
import type { LastPosition } from '../../schemas/read-models.ts'
import type { JsonSchema } from './admin-route.ts'

/** A time as the API writes it: `YYYY-MM-DDTHH:mm:ss.sssZ`. */
export { isoTime }

/** The OpenAPI schema of a time. */
export const TIME: JsonSchema = { type: 'string', format: 'date-time' }

/** A record as the API shows it everywhere: flat, without absent measurements. */
export function recordView({ deviceId, ...position }: LastPosition & { deviceId: string }) {
  const { recordId, ...rest } = positionView(position)
  return { recordId, deviceId, ...rest }
}

/** A record for answers about a single device. */
export function positionView(position: LastPosition) {
  const { recordId, latitude, longitude, timestamp, receivedAt } = position
  const measured: { [Name in (typeof MEASUREMENTS)[number]]?: number } = {}
  for (const name of MEASUREMENTS) {
    const value = position[name]
    if (value !== undefined) measured[name] = value
  }
  return {
    recordId,
    latitude,
    longitude,
    timestamp: isoTime(timestamp),
    receivedAt: isoTime(receivedAt),
    ...measured,
  }
}

const POSITION_PROPERTIES: JsonSchema = {
  recordId: { type: 'string', description: 'ULID' },
  latitude: { type: 'number', minimum: -90, maximum: 90 },
  longitude: { type: 'number', minimum: -180, maximum: 180 },
  timestamp: { ...TIME, description: 'When the position was true' },
  receivedAt: { ...TIME, description: 'When the report was received' },
  accuracy: { type: 'number', description: 'Metres' },
  altitude: { type: 'number', description: 'Metres' },
  speed: { type: 'number', description: 'Metres per second' },
  heading: { type: 'number', description: 'Degrees clockwise from north' },
  battery: { type: 'number', description: 'A fraction from 0 to 1' },
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
