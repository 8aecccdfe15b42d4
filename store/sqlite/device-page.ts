import type { Value } from '../../runtime/sqlite/database.ts'
import { deviceRanges } from '../device-ranges.ts'
import type { DevicePage, Devices } from '../read-models.ts'
import {
  filtering,
  indexOfKey,
  seenWithin,
  silentAtMost,
  SETTINGS,
  without,
  type Clause,
} from './device-filters.ts'
import { hasLabels } from './device-labels.ts'

/**
 * The statement for a page of device statuses without those in `hidden`: an index scan in the
 * page's order, or a look-up of the listed devices if the list is limited. Fixed texts only, so
 * that few different statements exist.
 */
export function devicePage(
  query: DevicePage,
  hidden: readonly string[],
): { readonly sql: string; readonly values: readonly Value[] } {
  const byTime = query.sort === 'lastSeenAt'
  // The `+` stops the planner from scanning by time for each device of a list, or through those of other keys.
  const isListed = query.devices !== undefined || query.keyId !== undefined
  const lastSeenAt = isListed ? '+last_seen_at' : 'last_seen_at'
  const filters = [
    ...(byTime ? rangeByTime(query, lastSeenAt) : rangeById(query)),
    ...filtering(query, hidden),
    ...labelled(query),
  ]
  const where = ['account_id = ?', ...filters.map(({ sql }) => sql)].join(' AND ')
  const direction = directionOf(query)
  const values = [query.accountId, ...filters.flatMap(({ values }) => values), query.limit]
  if (query.devices !== undefined) {
    const ranges = JSON.stringify(deviceRanges(query.devices))
    return { sql: lookUp(where, direction, query), values: [ranges, ...values] }
  }
  return {
    sql: byTime ? walkByTime(where, direction, lastSeenAt) : walkById(where, direction),
    values,
  }
}

/** The statement that counts device statuses without those in `hidden`: one scan of an index. */
export function deviceCounts(
  { accountId, devices, now }: Parameters<Devices['countDevices']>[0],
  hidden: readonly string[],
): { readonly sql: string; readonly values: readonly Value[] } {
  const filters = without(hidden)
  const where = ['account_id = ?', ...filters.map(({ sql }) => sql)].join(' AND ')
  const listed =
    devices === undefined
      ? ''
      : `json_each(?) AS listed CROSS JOIN device_statuses
         ON device_id BETWEEN listed.value ->> 0 AND listed.value ->> 1`
  const [online, idle] = [silentAtMost('online'), silentAtMost('idle')]
  const sql = `SELECT count(*) AS total,
      count(*) FILTER (WHERE ${online}) AS online,
      count(*) FILTER (WHERE ${idle} AND NOT ${online}) AS idle,
      count(*) FILTER (WHERE NOT ${idle}) AS offline,
      count(*) FILTER (WHERE (SELECT settings.disabled FROM ${SETTINGS})) AS disabled
    FROM ${listed === '' ? 'device_statuses' : listed} WHERE ${where}`
  const list = devices === undefined ? [] : [JSON.stringify(deviceRanges(devices))]
  const values = [accountId, ...filters.flatMap(({ values }) => values)]
  return { sql, values: [now, now, now, now, ...list, ...values] }
}

type Direction = 'ASC' | 'DESC'

function directionOf({ order }: DevicePage): Direction {
  return order === 'desc' ? 'DESC' : 'ASC'
}
type TimeColumn = 'last_seen_at' | '+last_seen_at'

function walkById(where: string, direction: Direction): string {
  return `SELECT * FROM device_statuses WHERE ${where} ORDER BY device_id ${direction} LIMIT ?`
}

/** Finds the devices in the index alone, and looks up only those. */
function walkByTime(where: string, direction: Direction, lastSeenAt: TimeColumn): string {
  return `SELECT device_statuses.* FROM (
      SELECT number, device_id, last_seen_at FROM device_statuses WHERE ${where}
      ORDER BY ${lastSeenAt} ${direction}, device_id ${direction} LIMIT ?
    ) AS page CROSS JOIN device_statuses USING (number)
    ORDER BY page.last_seen_at ${direction}, page.device_id ${direction}`
}

function lookUp(where: string, direction: Direction, { sort, keyId }: DevicePage): string {
  return `SELECT device_statuses.*
    FROM json_each(?) AS listed CROSS JOIN device_statuses ${indexOfKey(keyId)}
    WHERE device_id BETWEEN listed.value ->> 0 AND listed.value ->> 1 AND ${where}
    ORDER BY ${sort === 'lastSeenAt' ? `last_seen_at ${direction}, ` : ''}device_id ${direction} LIMIT ?`
}

function rangeById(query: DevicePage): Clause[] {
  const { order = 'asc', after } = query
  const clauses: Clause[] = []
  if (after !== undefined) {
    clauses.push({ sql: `device_id ${order === 'asc' ? '>' : '<'} ?`, values: [after.deviceId] })
  }
  return [...clauses, ...seenWithin(query)]
}

/** A single bound at the start, the later of the range's and the page's: with two, SQLite would scan up to it. */
function rangeByTime(
  { order = 'asc', after, seenFrom, seenBefore }: DevicePage,
  column: TimeColumn,
): Clause[] {
  // No deviceId is empty, so (time, '') is right before the first device of that time.
  const first = { value: seenFrom ?? -Infinity, deviceId: '' }
  const end = { value: seenBefore ?? Infinity, deviceId: '' }
  const last = after && { value: Number(after.value), deviceId: after.deviceId }
  const place = `(${column}, device_id)`
  if (order === 'asc') {
    const start = last !== undefined && last.value >= first.value ? last : first
    return [
      { sql: `${place} > (?, ?)`, values: [start.value, start.deviceId] },
      { sql: `${column} < ?`, values: [end.value] },
    ]
  }
  const start = last !== undefined && last.value < end.value ? last : end
  return [
    { sql: `${place} < (?, ?)`, values: [start.value, start.deviceId] },
    { sql: `${column} >= ?`, values: [first.value] },
  ]
}

function labelled({ accountId, labels, devices }: DevicePage): Clause[] {
  if (labels === undefined) return []
  const { sql, values } = hasLabels(labels)
  // The `+` stops the planner from looking up every labelled device for each of a list.
  const column = devices === undefined ? 'device_id' : '+device_id'
  return [
    {
      sql: `${column} IN (
        SELECT device_id FROM accounts.device_settings WHERE account_id = ? AND ${sql})`,
      values: [accountId, ...values],
    },
  ]
}
