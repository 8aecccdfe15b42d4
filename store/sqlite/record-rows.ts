import type { HistoryPlace, PositionRecord } from '../../schemas/devices/read-models.ts'
import type { DeviceName } from './device-statuses.ts'
import { optionalFieldsIn } from './optional-columns.ts'

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

/** The order of a history. Any index of it that begins with device and timestamp serves. */
export const HISTORY_ORDER = 'timestamp, log_partition, log_offset'

export function placeValues({ timestamp, origin }: HistoryPlace) {
  return [timestamp, origin.partition, origin.offset] as const
}

export function namedRecord([accountId, deviceId, ...row]: NamedRow): PositionRecord {
  return record(row, { accountId, deviceId })
}

export function record(row: RecordRow, { accountId, deviceId }: DeviceName): PositionRecord {
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
    ...optionalFieldsIn(row, FIRST_OPTIONAL),
  }
}
