import type { PositionReported } from '../../schemas/position-reported.ts'
import type {
  HistoryPlace,
  Origin,
  PositionRecord,
  TrackRow,
  TrackStep,
} from '../../schemas/read-models.ts'
import type { OriginBounds } from '../generations.ts'
import type { HistoryPage, ReadModels } from '../read-models.ts'
import type { Database, Value } from '../../runtime/sqlite/database.ts'
import { isNotUnique } from '../../runtime/sqlite/sqlite-errors.ts'
import type { DeviceName } from './device-statuses.ts'
import type { StoredErasure } from './erasures.ts'
import { OPTIONAL_NAMES, optionalFieldsIn, optionalValues } from './optional-columns.ts'

export type Records = Pick<ReadModels, RecordReads> & {
  /** False if the id exists: a repeat, because the checkpoint is written with the records. */
  insert(entry: { origin: Origin; event: PositionReported }, numbers: Numbers): boolean
  /** The place in the log of the event that made a record. */
  originOf(accountId: string, recordId: string): Origin | undefined
  /** Removes some records received before a time; false when none are left. */
  removeSome(receivedBefore: number): boolean
  /** Removes some records covered by an erasure; false when none are left. */
  removeErased(erasure: StoredErasure, device: number): boolean
  /** Every record of a device by its origin, partition by partition. */
  ofDevice(device: number, name: DeviceName): { origin: Origin; event: PositionReported }[]
  /** The number of a device's records with a timestamp from `from` up to `to`, exclusive. */
  count(device: DeviceName, from: number, to: number): number
  /** The timestamp of the record after the first `skipped` ones of such a range. */
  timeAfter(
    device: DeviceName,
    range: { from: number; to: number; skipped: number },
  ): number | undefined
  /** The next records of an account, device by device, each in the order of its history, up to a device. */
  next(accountId: string, after: RecordPlace, upTo: string | undefined): PositionRecord[]
  origins(receivedSince: number): Map<number, OriginBounds>
}

/** The numbers that identify a record's device and account. */
export type Numbers = { readonly number: number; readonly account: number }

/** The reads that concern only records. */
export type RecordReads = 'findPosition' | 'pagePositions' | 'pageTrack' | 'findTrackPoints'

export type RecordPlace = Pick<PositionRecord, 'deviceId' | keyof HistoryPlace>

/** All columns, as an array: a long history is read page by page. */
type Row = readonly [
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
const FIRST_OPTIONAL = 11

type NamedRow = readonly [accountId: string, deviceId: string, ...Row]

/** Few enough that one round of removal does not noticeably delay a waiting writer. */
const REMOVED_AT_ONCE = 1_000

/** The columns of a `TrackStep`, as an array, which the driver makes in half the time of an object. */
type StepRow = readonly [
  timestamp: number,
  latitude: number,
  longitude: number,
  speed: number | null,
  recordId: string,
  accuracy: number | null,
  partition: number,
  offset: number,
]
const STEP_COLUMNS =
  'timestamp, latitude, longitude, speed, record_id, accuracy, log_partition, log_offset'

/** In the order of `TrackRow`. */
const TRACK_COLUMNS = `timestamp, latitude, longitude, ${OPTIONAL_NAMES.join(', ')}, record_id`

/** The device of a record, by account and id. */
const DEVICE = `device = (
  SELECT number FROM device_statuses WHERE account_id = ?1 AND device_id = ?2)`

/** The order of a history. Any index of it that begins with device and timestamp serves. */
const PLACE = 'timestamp, log_partition, log_offset'

/** A page's rows; the start is a single bound, so that both are index scans. */
const ASCENDING = `FROM records
  WHERE ${DEVICE} AND (${PLACE}) > (?, ?, ?) AND timestamp < ?
  ORDER BY ${PLACE} LIMIT ?`
const DESCENDING = `FROM records
  WHERE ${DEVICE} AND (${PLACE}) < (?, ?, ?) AND timestamp >= ?
  ORDER BY timestamp DESC, log_partition DESC, log_offset DESC LIMIT ?`

/** The statements that read a page. */
const PAGE = {
  asc: `SELECT * ${ASCENDING}`,
  desc: `SELECT * ${DESCENDING}`,
  track: `SELECT ${STEP_COLUMNS} ${ASCENDING}`,
}

const TRACK_POINT = `SELECT ${TRACK_COLUMNS} FROM records
  WHERE +${DEVICE} AND record_id = ?`

const COUNT = `SELECT count(*) AS count FROM records
  WHERE ${DEVICE} AND timestamp >= ? AND timestamp < ?`

const TIME_AFTER = `SELECT timestamp FROM records
  WHERE ${DEVICE} AND timestamp >= ? AND timestamp < ? ORDER BY timestamp LIMIT 1 OFFSET ?`

const FIND = `SELECT account_id, device_id, records.*
  FROM records CROSS JOIN device_statuses ON number = device
  WHERE records.record_id = ?2 AND account = (SELECT number FROM account_numbers WHERE account_id = ?1)`

const REMOVE_SOME = `DELETE FROM records WHERE rowid IN
  (SELECT rowid FROM records WHERE received_at < ? ORDER BY received_at LIMIT ${REMOVED_AT_ONCE})`

const ERASED = `device = ?1
  AND ((log_partition = ?2 AND log_offset < ?3) OR (log_partition <> ?2 AND received_at <= ?4))`

const REMOVE_ERASED = `DELETE FROM records WHERE rowid IN
  (SELECT rowid FROM records WHERE ${ERASED} LIMIT ${REMOVED_AT_ONCE})`

const READ_AT_ONCE = 1_000

const AS_ARRAYS = { asArrays: true }

/** The next records of an account: of a device from a place on, and of the devices after it. */
const NEXT = {
  ofDevice: `SELECT * FROM records WHERE ${DEVICE} AND (${PLACE}) > (?, ?, ?)
    ORDER BY ${PLACE} LIMIT ${READ_AT_ONCE}`,
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
  const find = database.prepare<NamedRow>(FIND, AS_ARRAYS)
  const page = {
    asc: database.prepare<Row>(PAGE.asc, AS_ARRAYS),
    desc: database.prepare<Row>(PAGE.desc, AS_ARRAYS),
  }
  const track = database.prepare<StepRow>(PAGE.track, AS_ARRAYS)
  const trackPoint = database.prepare<unknown[]>(TRACK_POINT, AS_ARRAYS)
  const count = database.prepare<{ count: number }>(COUNT)
  const timeAfter = database.prepare<{ timestamp: number }>(TIME_AFTER)
  const removeSome = database.prepare(REMOVE_SOME)
  const removeErased = database.prepare(REMOVE_ERASED)
  const ofDevice = database.prepare<Row>(
    'SELECT * FROM records WHERE device = ? ORDER BY log_partition, log_offset',
    AS_ARRAYS,
  )
  const nextOfDevice = database.prepare<Row>(NEXT.ofDevice, AS_ARRAYS)
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
        // Repeats are rare: an error for each is cheaper than reading the number of changes after each insert.
        if (!isNotUnique(error)) throw error
        return false
      }
    },

    count: ({ accountId, deviceId }, from, to) =>
      count.get(accountId, deviceId, from, to)?.count ?? 0,

    timeAfter: ({ accountId, deviceId }, { from, to, skipped }) =>
      timeAfter.get(accountId, deviceId, from, to, skipped)?.timestamp,

    next(accountId, { deviceId, ...place }, upTo) {
      const more = nextOfDevice.all(accountId, deviceId, ...placeValues(place))
      if (more.length > 0) return more.map((row) => record(row, { accountId, deviceId }))
      const rows =
        upTo === undefined
          ? nextOfAll.all(accountId, deviceId)
          : nextUpTo.all(accountId, deviceId, upTo)
      return rows.map(namedRecord)
    },

    originOf: (accountId, recordId) => originOf.get(accountId, recordId),

    origins: (receivedSince) =>
      new Map(
        origins.all(receivedSince).map(({ part, least, greatest }) => [part, { least, greatest }]),
      ),

    removeSome: (receivedBefore) => removeSome.run(receivedBefore) === REMOVED_AT_ONCE,

    removeErased: (erasure, device) =>
      removeErased.run(device, ...erased(erasure)) === REMOVED_AT_ONCE,

    ofDevice: (device, name) =>
      ofDevice.all(device).map((row) => {
        const { origin, ...event } = record(row, name)
        return { origin, event }
      }),

    async findPosition({ accountId, recordId }) {
      const row = find.get(accountId, recordId)
      return row && namedRecord(row)
    },

    async pagePositions({ order, ...query }) {
      const rows = page[order].all(...placeOf(query, order))
      return rows.map((row) => record(row, query))
    },

    pageTrack: async (query) => track.all(...placeOf(query, 'asc')).map(trackStep),

    async findTrackPoints({ accountId, deviceId, recordIds }) {
      const points = recordIds.map((recordId) => trackPoint.get(accountId, deviceId, recordId))
      return points.flatMap((row) => (row === undefined ? [] : [trackPointOf(row)]))
    },
  }
}

function trackStep(row: StepRow): TrackStep {
  const [timestamp, latitude, longitude, speed, recordId, accuracy, partition, offset] = row
  const origin = { partition, offset }
  return { timestamp, latitude, longitude, speed, accuracy, recordId, origin }
}

/** Attributes are stored as JSON, and a boolean as a number. */
function trackPointOf(row: unknown[]): TrackRow {
  const [recordId, imported, attributes] = [row.pop(), row.pop(), row.pop()]
  row.push(typeof attributes === 'string' ? JSON.parse(attributes) : null)
  row.push(imported === null ? null : true, recordId)
  return row as unknown as TrackRow
}

/** The parameters of a page's statement. */
function placeOf(
  { accountId, deviceId, from, to, limit, after }: HistoryPage,
  order: 'asc' | 'desc',
): Value[] {
  // No partition is negative, so this is right before the first record of its time.
  const first = from ?? -Infinity
  const end = to ?? Infinity
  const start = { timestamp: order === 'asc' ? first : end, origin: { partition: -1, offset: -1 } }
  const beyondStart =
    after !== undefined && (order === 'asc' ? after.timestamp >= first : after.timestamp < end)
  const place = placeValues(beyondStart ? after : start)
  return [accountId, deviceId, ...place, order === 'asc' ? end : first, limit]
}

function placeValues({ timestamp, origin }: HistoryPlace) {
  return [timestamp, origin.partition, origin.offset] as const
}

function erased({ origin, event }: StoredErasure) {
  return [origin.partition, origin.offset, event.erasedAt] as const
}

function namedRecord([accountId, deviceId, ...row]: NamedRow): PositionRecord {
  return record(row, { accountId, deviceId })
}

function record(row: Row, { accountId, deviceId }: DeviceName): PositionRecord {
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
