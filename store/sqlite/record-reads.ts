import type { TrackRow, TrackStep } from '../../schemas/devices/read-models.ts'
import type { HistoryPage, ReadModels } from '../read-models.ts'
import type { Database, Value } from '../../runtime/sqlite/database.ts'
import {
  OPTIONAL_NAMES,
  AS_ARRAYS,
  OF_DEVICE,
  toPositionRecord,
  HISTORY_ORDER,
  orderValues,
  record,
  type NamedRow,
  type RecordRow,
} from './record-rows.ts'

/** The reads that concern only records. */
export type RecordReads =
  'findPosition' | 'findLastPositions' | 'pagePositions' | 'pageTrack' | 'findTrackPoints'

/**
 * The columns of a `TrackStep`, as an array, which takes the driver half as long to create as an
 * object.
 */
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

/** Columns in the order of `TrackRow`. */
const TRACK_COLUMNS = `timestamp, latitude, longitude, ${OPTIONAL_NAMES.join(', ')}, record_id`

/** A page's rows; the start is a single bound, so that both are index scans. */
const ASCENDING = `FROM records
  WHERE ${OF_DEVICE} AND (${HISTORY_ORDER}) > (?, ?, ?) AND timestamp < ?
  ORDER BY ${HISTORY_ORDER} LIMIT ?`
const DESCENDING = `FROM records
  WHERE ${OF_DEVICE} AND (${HISTORY_ORDER}) < (?, ?, ?) AND timestamp >= ?
  ORDER BY timestamp DESC, log_partition DESC, log_offset DESC LIMIT ?`

/** The statements that read a page. */
const PAGE = {
  asc: `SELECT * ${ASCENDING}`,
  desc: `SELECT * ${DESCENDING}`,
  track: `SELECT ${STEP_COLUMNS} ${ASCENDING}`,
}

const TRACK_POINT = `SELECT ${TRACK_COLUMNS} FROM records
  WHERE +${OF_DEVICE} AND record_id = ?`

const FIND = `SELECT account_id, device_id, records.*
  FROM records CROSS JOIN device_statuses ON number = device
  WHERE records.record_id = ?2 AND account = (SELECT number FROM account_numbers WHERE account_id = ?1)`

export function sqliteRecordReads(database: Database): Pick<ReadModels, RecordReads> {
  const find = database.prepare<NamedRow>(FIND, AS_ARRAYS)
  const page = {
    asc: database.prepare<RecordRow>(PAGE.asc, AS_ARRAYS),
    desc: database.prepare<RecordRow>(PAGE.desc, AS_ARRAYS),
  }
  const track = database.prepare<StepRow>(PAGE.track, AS_ARRAYS)
  const trackPoint = database.prepare<unknown[]>(TRACK_POINT, AS_ARRAYS)

  return {
    async findPosition({ accountId, recordId }) {
      const row = find.get(accountId, recordId)
      return row && toPositionRecord(row)
    },

    async findLastPositions({ accountId, deviceIds, before }) {
      return deviceIds.flatMap((deviceId) => {
        const device = { accountId, deviceId }
        const row = page.desc.get(...placeOf({ ...device, to: before, limit: 1 }, 'desc'))
        return row === undefined ? [] : [record(row, device)]
      })
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
  // No partition is negative, so this lies directly before the first record of its time.
  const first = from ?? -Infinity
  const end = to ?? Infinity
  const start = { timestamp: order === 'asc' ? first : end, origin: { partition: -1, offset: -1 } }
  const beyondStart =
    after !== undefined && (order === 'asc' ? after.timestamp >= first : after.timestamp < end)
  const place = orderValues(beyondStart ? after : start)
  return [accountId, deviceId, ...place, order === 'asc' ? end : first, limit]
}
