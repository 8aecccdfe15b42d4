import { MEASUREMENTS, type PositionReported } from '../../schemas/position-reported.ts'
import type { Origin, PositionRecord, TrackPoint, TrackStep } from '../../schemas/read-models.ts'
import type { HistoryPage, OriginBounds, ReadModels } from '../read-models.ts'
import type { Database, Value } from '../../runtime/sqlite/database.ts'
import { isNotUnique } from '../../runtime/sqlite/sqlite-errors.ts'
import type { DeviceName } from './device-statuses.ts'
import type { ErasureEntry } from './erasures.ts'

export type Records = Pick<ReadModels, RecordReads> & {
  /** Whether the stored record of this id was made by this very event, now or earlier. */
  insert(entry: { origin: Origin; event: PositionReported }): boolean
  /** Removes some of those received before a time; false when none is left. */
  removeSome(receivedBefore: number): boolean
  /** Removes some of those covered by an erasure; false when none is left. */
  removeErased(erasure: ErasureEntry): boolean
  /** Whether an erasure covers more than is removed at once. */
  erasesMany(erasure: ErasureEntry): boolean
  /** Every record of a device by its origin, partition by partition. */
  ofDevice(device: DeviceName): { origin: Origin; event: PositionReported }[]
  /** How many records a device has with a timestamp from `from` up to `to`, exclusive. */
  count(device: DeviceName, from: number, to: number): number
  /** The next account after this one that has a record. */
  accountAfter(accountId: string): string | undefined
  /** The next records of an account by (device, timestamp, recordId), up to a device. */
  next(accountId: string, after: RecordPlace, upTo: string | undefined): PositionRecord[]
  origins(receivedSince: number): Map<number, OriginBounds>
}

/** Those of the reads that are about records alone. */
export type RecordReads = 'findPosition' | 'pagePositions' | 'pageTrack' | 'findTrackPoints'

export type RecordPlace = Pick<PositionRecord, 'deviceId' | 'timestamp' | 'recordId'>

type Row = {
  readonly account_id: string
  readonly record_id: string
  readonly device_id: string
  readonly key_id: string
  readonly latitude: number
  readonly longitude: number
  readonly timestamp: number
  readonly timestamp_source: 'device' | 'server'
  readonly received_at: number
  readonly accuracy: number | null
  readonly altitude: number | null
  readonly speed: number | null
  readonly heading: number | null
  readonly battery: number | null
  readonly log_partition: number
  readonly log_offset: number
}

/** A row of a page, as an array: a long history is read page by page. */
type PageRow = readonly [
  recordId: string,
  keyId: string,
  latitude: number,
  longitude: number,
  timestamp: number,
  timestampSource: Row['timestamp_source'],
  receivedAt: number,
  partition: number,
  offset: number,
  ...measurements: (number | null)[],
]
const MEASURED_FROM = 9

/** Few enough that a waiting writer does not notice one round of removal. */
const REMOVED_AT_ONCE = 1_000

/** In the order of `PageRow`; account and device are known. */
const PAGE_COLUMNS = `record_id, key_id, latitude, longitude, timestamp, timestamp_source, received_at,
  log_partition, log_offset, ${MEASUREMENTS.join(', ')}`

/** In the order of `TrackStep`. */
const STEP_COLUMNS = 'timestamp, latitude, longitude, speed, record_id'

/** In the order of `TrackPoint`. */
const TRACK_COLUMNS = `timestamp, latitude, longitude, ${MEASUREMENTS.join(', ')}, record_id`

/** A page's rows; the start is a single bound, so that both are index scans. */
const ASCENDING = `FROM records
  WHERE account_id = ? AND device_id = ? AND (timestamp, record_id) > (?, ?) AND timestamp < ?
  ORDER BY timestamp, record_id LIMIT ?`
const DESCENDING = `FROM records
  WHERE account_id = ? AND device_id = ? AND (timestamp, record_id) < (?, ?) AND timestamp >= ?
  ORDER BY timestamp DESC, record_id DESC LIMIT ?`

/** The statements that read a page. */
export const PAGE = {
  asc: `SELECT ${PAGE_COLUMNS} ${ASCENDING}`,
  desc: `SELECT ${PAGE_COLUMNS} ${DESCENDING}`,
  track: `SELECT ${STEP_COLUMNS} ${ASCENDING}`,
}

export const TRACK_POINT = `SELECT ${TRACK_COLUMNS} FROM records
  WHERE account_id = ? AND record_id = ? AND device_id = ?`

export const COUNT = `SELECT count(*) AS count FROM records
  WHERE account_id = ? AND device_id = ? AND timestamp >= ? AND timestamp < ?`

export const REMOVE_SOME = `DELETE FROM records WHERE rowid IN
  (SELECT rowid FROM records WHERE received_at < ? ORDER BY received_at LIMIT ${REMOVED_AT_ONCE})`

const ERASED = `account_id = ?1 AND device_id = ?2
  AND ((log_partition = ?3 AND log_offset < ?4) OR (log_partition <> ?3 AND received_at <= ?5))`

export const REMOVE_ERASED = `DELETE FROM records WHERE rowid IN
  (SELECT rowid FROM records WHERE ${ERASED} LIMIT ${REMOVED_AT_ONCE})`

const READ_AT_ONCE = 1_000

export const NEXT = {
  upTo: `SELECT * FROM records
    WHERE account_id = ? AND (device_id, timestamp, record_id) > (?, ?, ?) AND device_id <= ?
    ORDER BY device_id, timestamp, record_id LIMIT ${READ_AT_ONCE}`,
  all: `SELECT * FROM records
    WHERE account_id = ? AND (device_id, timestamp, record_id) > (?, ?, ?)
    ORDER BY device_id, timestamp, record_id LIMIT ${READ_AT_ONCE}`,
}

export function sqliteRecords(database: Database): Records {
  const insert = database.prepare(
    'INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const find = database.prepare<Row>('SELECT * FROM records WHERE account_id = ? AND record_id = ?')
  const page = {
    asc: database.prepare<PageRow>(PAGE.asc, { asArrays: true }),
    desc: database.prepare<PageRow>(PAGE.desc, { asArrays: true }),
  }
  const track = database.prepare<TrackStep>(PAGE.track, { asArrays: true })
  const trackPoint = database.prepare<TrackPoint>(TRACK_POINT, { asArrays: true })
  const count = database.prepare<{ count: number }>(COUNT)
  const removeSome = database.prepare(REMOVE_SOME)
  const removeErased = database.prepare(REMOVE_ERASED)
  const oneTooMany = database.prepare<{ rowid: number }>(
    `SELECT rowid FROM records WHERE ${ERASED} LIMIT 1 OFFSET ${REMOVED_AT_ONCE}`,
  )
  const ofDevice = database.prepare<Row>(
    `SELECT * FROM records WHERE account_id = ? AND device_id = ?
     ORDER BY log_partition, log_offset`,
  )
  const accountAfter = database.prepare<{ next: string | null }>(
    'SELECT min(account_id) AS next FROM records WHERE account_id > ?',
  )
  const nextUpTo = database.prepare<Row>(NEXT.upTo)
  const nextOfAll = database.prepare<Row>(NEXT.all)
  const origins = database.prepare<{ part: number; least: number; greatest: number }>(
    `SELECT log_partition AS part, min(log_offset) AS least, max(log_offset) AS greatest
     FROM records WHERE received_at >= ? GROUP BY log_partition`,
  )

  return {
    insert({ origin, event }) {
      try {
        insert.execute(
          event.accountId,
          event.recordId,
          event.deviceId,
          event.keyId,
          event.latitude,
          event.longitude,
          event.timestamp,
          event.timestampSource,
          event.receivedAt,
          event.accuracy ?? null,
          event.altitude ?? null,
          event.speed ?? null,
          event.heading ?? null,
          event.battery ?? null,
          origin.partition,
          origin.offset,
        )
        return true
      } catch (error) {
        // Repeats are few: to be told of each is cheaper than to ask after each insert.
        if (!isNotUnique(error)) throw error
        const stored = find.get(event.accountId, event.recordId)
        return stored?.log_partition === origin.partition && stored.log_offset === origin.offset
      }
    },

    count: ({ accountId, deviceId }, from, to) =>
      count.get(accountId, deviceId, from, to)?.count ?? 0,

    accountAfter: (accountId) => accountAfter.get(accountId)?.next ?? undefined,

    next(accountId, { deviceId, timestamp, recordId }, upTo) {
      const place = [accountId, deviceId, timestamp, recordId]
      const rows = upTo === undefined ? nextOfAll.all(...place) : nextUpTo.all(...place, upTo)
      return rows.map(record)
    },

    origins: (receivedSince) =>
      new Map(
        origins.all(receivedSince).map(({ part, least, greatest }) => [part, { least, greatest }]),
      ),

    removeSome: (receivedBefore) => removeSome.run(receivedBefore) === REMOVED_AT_ONCE,

    removeErased: (erasure) => removeErased.run(...erased(erasure)) === REMOVED_AT_ONCE,

    erasesMany: (erasure) => oneTooMany.get(...erased(erasure)) !== undefined,

    ofDevice: ({ accountId, deviceId }) =>
      ofDevice.all(accountId, deviceId).map((row) => {
        const { origin, ...event } = record(row)
        return { origin, event }
      }),

    async findPosition({ accountId, recordId }) {
      const row = find.get(accountId, recordId)
      return row && record(row)
    },

    async pagePositions({ order, ...query }) {
      const rows = page[order].all(...placeOf(query, order))
      return rows.map((row) => pageRecord(row, query))
    },

    pageTrack: async (query) => track.all(...placeOf(query, 'asc')),

    async findTrackPoints({ accountId, deviceId, recordIds }) {
      const found = recordIds.map((recordId) => trackPoint.get(accountId, recordId, deviceId))
      return found.filter((point) => point !== undefined)
    },
  }
}

/** What the statement of a page takes. */
function placeOf(
  { accountId, deviceId, from, to, limit, after }: HistoryPage,
  order: 'asc' | 'desc',
): Value[] {
  // No recordId is empty, so (from, '') is right before the first record of that time, and (to, '')
  // right after the last one before it.
  const first = from ?? -Infinity
  const end = to ?? Infinity
  const start = { timestamp: order === 'asc' ? first : end, recordId: '' }
  const beyondStart =
    after !== undefined && (order === 'asc' ? after.timestamp >= first : after.timestamp < end)
  const { timestamp, recordId } = beyondStart ? after : start
  return [accountId, deviceId, timestamp, recordId, order === 'asc' ? end : first, limit]
}

function erased({ origin, event }: ErasureEntry) {
  const { accountId, deviceId, erasedAt } = event
  return [accountId, deviceId, origin.partition, origin.offset, erasedAt] as const
}

function record(row: Row): PositionRecord {
  const measurements: { -readonly [Name in (typeof MEASUREMENTS)[number]]?: number } = {}
  for (const name of MEASUREMENTS) {
    const value = row[name]
    if (value !== null) measurements[name] = value
  }
  return {
    recordId: row.record_id,
    accountId: row.account_id,
    keyId: row.key_id,
    deviceId: row.device_id,
    latitude: row.latitude,
    longitude: row.longitude,
    timestamp: row.timestamp,
    timestampSource: row.timestamp_source,
    receivedAt: row.received_at,
    origin: { partition: row.log_partition, offset: row.log_offset },
    ...measurements,
  }
}

function pageRecord(row: PageRow, { accountId, deviceId }: DeviceName): PositionRecord {
  const measurements: { -readonly [Name in (typeof MEASUREMENTS)[number]]?: number } = {}
  let column = MEASURED_FROM
  for (const name of MEASUREMENTS) {
    const value = row[column] as number | null
    if (value !== null) measurements[name] = value
    column += 1
  }
  return {
    recordId: row[0],
    accountId,
    keyId: row[1],
    deviceId,
    latitude: row[2],
    longitude: row[3],
    timestamp: row[4],
    timestampSource: row[5],
    receivedAt: row[6],
    origin: { partition: row[7], offset: row[8] },
    ...measurements,
  }
}
