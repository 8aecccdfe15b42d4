import type { HistoryPlace, PositionRecord } from '../../schemas/devices/read-models.ts'
import type { Value } from '../../runtime/sqlite/database.ts'
import {
  MEASUREMENTS,
  OPTIONAL_FIELDS,
  type Attributes,
  type OptionalFields,
} from '../../schemas/report/report-fields.ts'

/** All columns, as an array: a long history is read page by page. */
export type RecordRow = readonly [
  account: number,
  device: number,
  recordId: string,
  keyId: string,
  latitude: number,
  longitude: number,
  timestamp: number,
  timestampSource: 'device' | 'server',
  receivedAt: number,
  partition: number,
  offset: number,
  ...optional: unknown[],
]
export const FIRST_OPTIONAL = 11

export type NamedRow = readonly [accountId: string, deviceId: string, ...RecordRow]

export const AS_ARRAYS = { asArrays: true }

/** The device of a record, by account and id. */
export const OF_DEVICE = `device = (
  SELECT number FROM device_statuses WHERE account_id = ?1 AND device_id = ?2)`

/** The order of a history. Any index of it that starts with device and timestamp serves. */
export const HISTORY_ORDER = 'timestamp, log_partition, log_offset'

export function orderValues({ timestamp, origin }: HistoryPlace) {
  return [timestamp, origin.partition, origin.offset] as const
}

export function toPositionRecord([accountId, deviceId, ...row]: NamedRow): PositionRecord {
  return record(row, { accountId, deviceId })
}

export function record(
  row: RecordRow,
  { accountId, deviceId }: Pick<PositionRecord, 'accountId' | 'deviceId'>,
): PositionRecord {
  const [
    ,
    ,
    recordId,
    keyId,
    latitude,
    longitude,
    timestamp,
    timestampSource,
    receivedAt,
    partition,
    offset,
  ] = row
  return {
    recordId,
    accountId,
    keyId,
    deviceId,
    latitude,
    longitude,
    timestamp,
    timestampSource,
    receivedAt,
    origin: { partition, offset },
    ...readOptionalFields(row, FIRST_OPTIONAL),
  }
}

/** The names of the optional fields' columns, in their order. */
export const OPTIONAL_NAMES: readonly string[] = OPTIONAL_FIELDS

/** The values for these columns; null if absent. */
export function optionalValues(from: OptionalFields): Value[] {
  const { attributes, imported } = from
  const values: Value[] = []
  for (const name of MEASUREMENTS) values.push(from[name] ?? null)
  values.push(
    attributes === undefined ? null : JSON.stringify(attributes),
    imported === true ? 1 : null,
  )
  return values
}

/** The optional fields of a row, from its column `first` on. */
export function readOptionalFields(row: readonly unknown[], first: number): OptionalFields {
  const fields: { -readonly [Name in keyof OptionalFields]: OptionalFields[Name] } = {}
  let column = first
  for (const name of MEASUREMENTS) {
    const value = row[column] as number | null
    if (value !== null) fields[name] = value
    column += 1
  }
  const attributes = row[column] as string | null
  if (attributes !== null) fields.attributes = JSON.parse(attributes) as Attributes
  if (row[column + 1] !== null) fields.imported = true
  return fields
}
