import type { Origin } from '../../schemas/devices/read-models.ts'
import type { Database, Value } from '../../runtime/sqlite/database.ts'
import type { NearQuery, NearStep } from '../read-models.ts'
import { compareOrigins } from '../../schemas/geo/position-order.ts'
import { AS_ARRAYS } from './record-rows.ts'

/**
 * Rows between the first and the last record of a range, per record, up to which reading them all
 * is faster than finding each: records are stored in the order of receipt.
 */
const SPREAD = 4

export type NearRecords = {
  /** Undefined if the range has too many records for one read. */
  readNear(query: NearQuery): ReadonlyMap<string, readonly NearStep[]> | undefined
}

type PlacedStep = NearStep & Origin

type NearRow = readonly [
  deviceId: string,
  timestamp: number,
  latitude: number,
  longitude: number,
  accuracy: number | null,
  partition: number,
  offset: number,
]

const NUMBERS = (ids: string) => `SELECT number FROM device_statuses
  WHERE account_id = ?1 AND device_id IN (SELECT value FROM json_each(${ids}))`

const IN_RANGE = `device IN (${NUMBERS('?2')}) AND timestamp >= ?3 AND timestamp < ?4`

/** Reads only the index. */
const EXTENT = `WITH page AS (
    SELECT rowid AS row FROM records WHERE ${IN_RANGE} LIMIT ?5)
  SELECT count(*), min(row), max(row) FROM page`

const NEIGHBOURS = `rowid BETWEEN ?5 AND ?6 AND +timestamp >= ?3 AND +timestamp < ?4`

/** Sorted by row, so that each page of the file is read once. */
const SCATTERED = `rowid IN (SELECT rowid FROM records WHERE ${IN_RANGE})`

const IN_BOXES = `(latitude BETWEEN ?7 AND ?8 AND longitude BETWEEN ?9 AND ?10
  OR latitude BETWEEN ?11 AND ?12 AND longitude BETWEEN ?13 AND ?14)`

/** Searches the tracks of many devices by location, without a spatial index. */
export function sqliteNearRecords(database: Database): NearRecords {
  const extent = database.prepare<readonly number[]>(EXTENT, AS_ARRAYS)
  const neighbours = readingOf(NEIGHBOURS)
  const scattered = readingOf(SCATTERED)

  function readingOf(rows: string) {
    const near = database.prepare<readonly [device: number]>(
      `SELECT DISTINCT device FROM records
       WHERE ${rows} AND ${IN_BOXES} AND +device IN (${NUMBERS('?2')})`,
      AS_ARRAYS,
    )
    const tracks = database.prepare<NearRow>(
      `SELECT (SELECT device_id FROM device_statuses WHERE number = device),
         timestamp, latitude, longitude, accuracy, log_partition, log_offset
       FROM records WHERE ${rows} AND (+device IN (SELECT value FROM json_each(?7))
         OR +device IN (${NUMBERS('?8')}))`,
      AS_ARRAYS,
    )
    return { near, tracks }
  }

  return {
    readNear({ accountId, deviceIds, following, from, to, boxes, limit }) {
      const range = [accountId, JSON.stringify(deviceIds), from, to]
      const [count = 0, first = 0, last = 0] = extent.get(...range, limit + 1) ?? []
      // The records of one millisecond cannot be divided.
      if (count > limit && to - from > 1) return undefined
      if (count === 0) return new Map()
      const sides = [boxes[0], boxes.at(-1)].flatMap((box): Value[] =>
        box === undefined ? [] : [box.south, box.north, box.west, box.east],
      )
      const areNeighbours = count <= limit && last - first < SPREAD * count
      const { near, tracks } = areNeighbours ? neighbours : scattered
      const rows = [...range, first, last]
      const numbers = near.all(...rows, ...sides).map(([device]) => device)
      if (numbers.length === 0 && following.length === 0) return new Map()
      return tracksOf(tracks.all(...rows, JSON.stringify(numbers), JSON.stringify(following)))
    },
  }
}

function tracksOf(rows: readonly NearRow[]): ReadonlyMap<string, readonly NearStep[]> {
  const tracks = new Map<string, PlacedStep[]>()
  for (const row of rows) {
    const [deviceId, timestamp, latitude, longitude, accuracy, partition, offset] = row
    const step = { timestamp, latitude, longitude, accuracy, partition, offset }
    const track = tracks.get(deviceId)
    if (track === undefined) tracks.set(deviceId, [step])
    else track.push(step)
  }
  for (const track of tracks.values()) {
    track.sort((a, b) => a.timestamp - b.timestamp || compareOrigins(a, b))
  }
  return tracks
}
