import type { PositionReported } from '../../schemas/events/position-reported.ts'
import type { HistoryPlace, Origin, PositionRecord } from '../../schemas/devices/read-models.ts'
import type { OriginBounds } from '../generations.ts'
import type { ReadModels } from '../read-models.ts'
import type { Database } from '../../runtime/sqlite/database.ts'
import { isNotUnique } from '../../runtime/sqlite/sqlite-errors.ts'
import type { DeviceName } from './device-statuses.ts'
import type { StoredErasure } from './erasures.ts'
import {
  OPTIONAL_NAMES,
  optionalValues,
  AS_ARRAYS,
  OF_DEVICE,
  FIRST_OPTIONAL,
  toPositionRecord,
  HISTORY_ORDER,
  orderValues,
  record,
  type NamedRow,
  type RecordRow,
} from './record-rows.ts'
import { sqliteRecordReads, type RecordReads } from './record-reads.ts'

export type Records = Pick<ReadModels, RecordReads> & {
  /**
   * False if the id exists: the report is a repeat, because the checkpoint is written with the
   * records.
   */
  insert(entry: { origin: Origin; event: PositionReported }, numbers: Numbers): boolean
  /** The origin in the log of the event that created a record. */
  originOf(accountId: string, recordId: string): Origin | undefined
  /** Removes some records received before a time; false when none are left. */
  removeSome(receivedBefore: number): boolean
  /** Removes some records covered by an erasure; false when none are left. */
  removeErased(erasure: StoredErasure, device: number): boolean
  /** Every record of a device by its origin, partition by partition. */
  ofDevice(device: number, name: DeviceName): { origin: Origin; event: PositionReported }[]
  /** The number of a device's records with a timestamp from `from` up to `to`, exclusive. */
  count(device: DeviceName, from: number, to: number): number
  /** Returns the timestamp of the record after the first `skipped` ones of such a range. */
  timeAfter(
    device: DeviceName,
    range: { from: number; to: number; skipped: number },
  ): number | undefined
  /**
   * The next records of an account, device by device, each in the order of its history, up to a
   * device.
   */
  next(accountId: string, after: RecordPlace, upTo: string | undefined): PositionRecord[]
  origins(receivedSince: number): Map<number, OriginBounds>
}

/** The numbers that identify a record's device and account. */
export type Numbers = { readonly number: number; readonly account: number }

export type RecordPlace = Pick<PositionRecord, 'deviceId' | keyof HistoryPlace>

/** Few enough that one round of removal does not noticeably delay a waiting writer. */
const REMOVED_AT_ONCE = 1_000

const COUNT = `SELECT count(*) AS count FROM records
  WHERE ${OF_DEVICE} AND timestamp >= ? AND timestamp < ?`

const TIME_AFTER = `SELECT timestamp FROM records
  WHERE ${OF_DEVICE} AND timestamp >= ? AND timestamp < ? ORDER BY timestamp LIMIT 1 OFFSET ?`

const REMOVE_SOME = `DELETE FROM records WHERE rowid IN
  (SELECT rowid FROM records WHERE received_at < ? ORDER BY received_at LIMIT ${REMOVED_AT_ONCE})`

const ERASED = `device = ?1
  AND ((log_partition = ?2 AND log_offset < ?3) OR (log_partition <> ?2 AND received_at <= ?4))`

const REMOVE_ERASED = `DELETE FROM records WHERE rowid IN
  (SELECT rowid FROM records WHERE ${ERASED} LIMIT ${REMOVED_AT_ONCE})`

const READ_AT_ONCE = 1_000

/** The next records of an account: of a device from a position on, and of the devices after it. */
const NEXT = {
  ofDevice: `SELECT * FROM records WHERE ${OF_DEVICE} AND (${HISTORY_ORDER}) > (?, ?, ?)
    ORDER BY ${HISTORY_ORDER} LIMIT ${READ_AT_ONCE}`,
  upTo: nextDevices('device_id <= ?'),
  all: nextDevices('TRUE'),
}

function nextDevices(last: string): string {
  return `SELECT device_statuses.account_id, device_statuses.device_id, records.*
    FROM device_statuses CROSS JOIN records ON device = number
    WHERE account_id = ? AND device_id > ? AND ${last}
    ORDER BY device_id, records.timestamp, log_partition, log_offset LIMIT ${READ_AT_ONCE}`
}

export function sqliteRecords(database: Database): Records {
  const places = Array.from({ length: FIRST_OPTIONAL + OPTIONAL_NAMES.length }, () => '?')
  const insert = database.prepare(`INSERT INTO records VALUES (${places.join(', ')})`)
  const count = database.prepare<{ count: number }>(COUNT)
  const timeAfter = database.prepare<{ timestamp: number }>(TIME_AFTER)
  const removeSome = database.prepare(REMOVE_SOME)
  const removeErased = database.prepare(REMOVE_ERASED)
  const ofDevice = database.prepare<RecordRow>(
    'SELECT * FROM records WHERE device = ? ORDER BY log_partition, log_offset',
    AS_ARRAYS,
  )
  const nextOfDevice = database.prepare<RecordRow>(NEXT.ofDevice, AS_ARRAYS)
  const nextUpTo = database.prepare<NamedRow>(NEXT.upTo, AS_ARRAYS)
  const nextOfAll = database.prepare<NamedRow>(NEXT.all, AS_ARRAYS)
  const originOf = database.prepare<Origin>(
    `SELECT log_partition AS "partition", log_offset AS "offset" FROM records
     WHERE record_id = ?2 AND account = (SELECT number FROM account_numbers WHERE account_id = ?1)`,
  )
  const origins = database.prepare<{ part: number; least: number; greatest: number }>(
    `SELECT log_partition AS part, min(log_offset) AS least, max(log_offset) AS greatest
     FROM records WHERE received_at >= ? GROUP BY log_partition`,
  )

  return {
    ...sqliteRecordReads(database),

    insert({ origin, event }, { account, number }) {
      try {
        insert.execute(
          account,
          number,
          event.recordId,
          event.keyId,
          event.latitude,
          event.longitude,
          event.timestamp,
          event.timestampSource,
          event.receivedAt,
          origin.partition,
          origin.offset,
          ...optionalValues(event),
        )
        return true
      } catch (error) {
        // Repeats are rare: an error for each costs less than reading the number of changes after
        // each insert.
        if (!isNotUnique(error)) throw error
        return false
      }
    },

    count: ({ accountId, deviceId }, from, to) =>
      count.get(accountId, deviceId, from, to)?.count ?? 0,

    timeAfter: ({ accountId, deviceId }, { from, to, skipped }) =>
      timeAfter.get(accountId, deviceId, from, to, skipped)?.timestamp,

    next(accountId, { deviceId, ...place }, upTo) {
      const more = nextOfDevice.all(accountId, deviceId, ...orderValues(place))
      if (more.length > 0) return more.map((row) => record(row, { accountId, deviceId }))
      const rows =
        upTo === undefined
          ? nextOfAll.all(accountId, deviceId)
          : nextUpTo.all(accountId, deviceId, upTo)
      return rows.map(toPositionRecord)
    },

    originOf: (accountId, recordId) => originOf.get(accountId, recordId),

    origins: (receivedSince) =>
      new Map(
        origins.all(receivedSince).map(({ part, least, greatest }) => [part, { least, greatest }]),
      ),

    removeSome: (receivedBefore) => removeSome.run(receivedBefore) === REMOVED_AT_ONCE,

    removeErased: (erasure, device) =>
      removeErased.run(device, ...erasureValues(erasure)) === REMOVED_AT_ONCE,

    ofDevice: (device, name) =>
      ofDevice.all(device).map((row) => {
        const { origin, ...event } = record(row, name)
        return { origin, event }
      }),
  }
}

function erasureValues({ origin, event }: StoredErasure) {
  return [origin.partition, origin.offset, event.erasedAt] as const
}
