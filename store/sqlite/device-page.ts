import type { DevicePage } from '../read-models.ts'
import type { Value } from '../../runtime/sqlite/database.ts'

type Clause = { readonly sql: string; readonly values: readonly Value[] }

/**
 * The statement for a page of device statuses without those in `hidden`: a walk along the index of
 * its order, whatever else is asked. Fixed texts only, so that there are few different ones.
 */
export function devicePage(
  query: DevicePage,
  hidden: readonly string[],
): { readonly sql: string; readonly values: readonly Value[] } {
  const byTime = query.sort === 'lastSeenAt'
  const range = byTime ? rangeByTime(query) : rangeById(query)
  const filters = [...range, ...inside(query.bbox), ...without(hidden)]
  const where = ['account_id = ?', ...filters.map(({ sql }) => sql)].join(' AND ')
  const direction = query.order === 'desc' ? 'DESC' : 'ASC'
  return {
    sql: byTime ? walkByTime(where, direction) : walkById(where, direction),
    values: [query.accountId, ...filters.flatMap(({ values }) => values), query.limit],
  }
}

function walkById(where: string, direction: 'ASC' | 'DESC'): string {
  return `SELECT * FROM device_statuses WHERE ${where} ORDER BY device_id ${direction} LIMIT ?`
}

/** The index alone tells which devices they are; only those are then looked up. */
function walkByTime(where: string, direction: 'ASC' | 'DESC'): string {
  return `SELECT device_statuses.* FROM (
      SELECT account_id, device_id, last_seen_at FROM device_statuses WHERE ${where}
      ORDER BY last_seen_at ${direction}, device_id ${direction} LIMIT ?
    ) AS page CROSS JOIN device_statuses USING (account_id, device_id)
    ORDER BY page.last_seen_at ${direction}, page.device_id ${direction}`
}

function rangeById({ order = 'asc', after, seenFrom, seenBefore }: DevicePage): Clause[] {
  const clauses: Clause[] = []
  if (after !== undefined) {
    clauses.push({ sql: `device_id ${order === 'asc' ? '>' : '<'} ?`, values: [after.deviceId] })
  }
  // The sign keeps the planner from walking along the times and sorting what it finds.
  if (seenFrom !== undefined) clauses.push({ sql: '+last_seen_at >= ?', values: [seenFrom] })
  if (seenBefore !== undefined) clauses.push({ sql: '+last_seen_at < ?', values: [seenBefore] })
  return clauses
}

/** Its start is one bound, the later of the range's and the page's, or SQLite would walk to it. */
function rangeByTime({ order = 'asc', after, seenFrom, seenBefore }: DevicePage): Clause[] {
  // No deviceId is empty, so (time, '') stands right before the first device of that time.
  const first = { lastSeenAt: seenFrom ?? -Infinity, deviceId: '' }
  const end = { lastSeenAt: seenBefore ?? Infinity, deviceId: '' }
  const place = '(last_seen_at, device_id)'
  if (order === 'asc') {
    const start = after !== undefined && after.lastSeenAt >= first.lastSeenAt ? after : first
    return [
      { sql: `${place} > (?, ?)`, values: [start.lastSeenAt, start.deviceId] },
      { sql: 'last_seen_at < ?', values: [end.lastSeenAt] },
    ]
  }
  const start = after !== undefined && after.lastSeenAt < end.lastSeenAt ? after : end
  return [
    { sql: `${place} < (?, ?)`, values: [start.lastSeenAt, start.deviceId] },
    { sql: 'last_seen_at >= ?', values: [first.lastSeenAt] },
  ]
}

function inside(bbox: DevicePage['bbox']): Clause[] {
  if (bbox === undefined) return []
  const { west, south, east, north } = bbox
  return [
    { sql: 'latitude BETWEEN ? AND ?', values: [south, north] },
    west <= east
      ? { sql: 'longitude BETWEEN ? AND ?', values: [west, east] }
      : { sql: '(longitude >= ? OR longitude <= ?)', values: [west, east] },
  ]
}

function without(hidden: readonly string[]): Clause[] {
  if (hidden.length === 0) return []
  const sql = 'device_id NOT IN (SELECT value FROM json_each(?))'
  return [{ sql, values: [JSON.stringify(hidden)] }]
}
