import { measurementValues, OPTIONAL_FIELDS } from '../../schemas/report/report-fields.ts'
import type { PositionRecord, TrackRow, TrackStep } from '../../schemas/devices/read-models.ts'
import type { PositionEntry } from '../read-models.ts'
import type { PositionDocument } from './collections.ts'

export function positionDocument({ origin, event }: PositionEntry): PositionDocument {
  const { recordId, ...fields } = event
  return {
    ...fields,
    _id: recordKey({ accountId: fields.accountId, recordId }),
    timestamp: new Date(fields.timestamp),
    receivedAt: new Date(fields.receivedAt),
    origin,
  }
}

export function positionRecord({ _id, ...fields }: PositionDocument): PositionRecord {
  return {
    ...fields,
    recordId: _id.slice(fields.accountId.length + 1),
    timestamp: fields.timestamp.getTime(),
    receivedAt: fields.receivedAt.getTime(),
  }
}

/**
 * The fields that a track is computed from; `accountId` is needed to read the record id from `_id`.
 */
export const STEP_FIELDS = {
  accountId: 1,
  timestamp: 1,
  latitude: 1,
  longitude: 1,
  speed: 1,
  accuracy: 1,
  origin: 1,
} as const

export type StepDocument = Pick<PositionDocument, keyof typeof STEP_FIELDS | '_id'>

export function trackStep(document: StepDocument): TrackStep {
  const { _id, accountId, timestamp, latitude, longitude, origin } = document
  const { speed = null, accuracy = null } = document
  const recordId = _id.slice(accountId.length + 1)
  return { timestamp: timestamp.getTime(), latitude, longitude, speed, accuracy, recordId, origin }
}

/** These fields plus those that a track returns for its points. */
export const TRACK_FIELDS = {
  ...STEP_FIELDS,
  ...(Object.fromEntries(OPTIONAL_FIELDS.map((name) => [name, 1])) as OptionalProjection),
}
type OptionalProjection = Record<(typeof OPTIONAL_FIELDS)[number], 1>

export type TrackDocument = Pick<PositionDocument, keyof typeof TRACK_FIELDS | '_id'>

export function trackPoint(document: TrackDocument): TrackRow {
  const { _id, accountId, timestamp, latitude, longitude } = document
  const { attributes = null, imported = null } = document
  const recordId = _id.slice(accountId.length + 1)
  const measurements = measurementValues(document)
  const place = [timestamp.getTime(), latitude, longitude] as const
  return [...place, ...measurements, attributes, imported, recordId]
}

/** Record ids are unique within an account; account ids contain no slash. */
export function recordKey({
  accountId,
  recordId,
}: {
  accountId: string
  recordId: string
}): string {
  return `${accountId}/${recordId}`
}
