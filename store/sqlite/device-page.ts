import type { Value } from '../../runtime/sqlite/database.ts'
import { SILENCE } from '../../schemas/liveness.ts'
import { deviceRanges } from '../device-ranges.ts'
import type { DevicePage, Devices } from '../read-models.ts'
import { spellings, type Spelling } from '../spellings.ts'
import { hasLabels } from './device-labels.ts'

type Clause = { readonly sql: string; readonly values: readonly Value[] }

/** The settings of the current row's device; their file is attached as `accounts`. */
const SETTINGS = `accounts.device_settings AS settings
  WHERE settings.account_id = device_statuses.account_id
    AND settings.device_id = device_statuses.device_id`

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
    ...(query.keyId === undefined ? [] : [{ sql: 'last_key_id = ?', values: [query.keyId] }]),
    ...inside(query.bbox),
    ...without(hidden),
    ...lively(query.status),
    ...mentioning(query.mentions),
    ...labelled(query),
  ]
  const where = ['account_id = ?', ...filters.map(({ sql }) => sql)].join(' AND ')
  const direction = query.order === 'desc' ? 'DESC' : 'ASC'
  const values = [query.accountId, ...filters.flatMap(({ values }) => values), query.limit]
  if (query.devices !== undefined) {
    const ranges = JSON.stringify(deviceRanges(query.devices))
    return { sql: lookUp(where, direction, byTime), values: [ranges, ...values] }
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

function lookUp(where: string, direction: Direction, byTime: boolean): string {
  return `SELECT device_statuses.* FROM json_each(?) AS listed CROSS JOIN device_statuses
    WHERE device_id BETWEEN listed.value ->> 0 AND listed.value ->> 1 AND ${where}
    ORDER BY ${byTime ? `last_seen_at ${direction}, ` : ''}device_id ${direction} LIMIT ?`
}

function rangeById({ order = 'asc', after, seenFrom, seenBefore }: DevicePage): Clause[] {
  const clauses: Clause[] = []
  if (after !== undefined) {
    clauses.push({ sql: `device_id ${order === 'asc' ? '>' : '<'} ?`, values: [after.deviceId] })
  }
  // The `+` stops the planner from scanning by time and sorting the result.
  if (seenFrom !== undefined) clauses.push({ sql: '+last_seen_at >= ?', values: [seenFrom] })
  if (seenBefore !== undefined) clauses.push({ sql: '+last_seen_at < ?', values: [seenBefore] })
  return clauses
}

/** A single bound at the start, the later of the range's and the page's: with two, SQLite would scan up to it. */
function rangeByTime(
  { order = 'asc', after, seenFrom, seenBefore }: DevicePage,
  column: TimeColumn,
): Clause[] {
  // No deviceId is empty, so (time, '') is right before the first device of that time.
  const first = { lastSeenAt: seenFrom ?? -Infinity, deviceId: '' }
  const end = { lastSeenAt: seenBefore ?? Infinity, deviceId: '' }
  const place = `(${column}, device_id)`
  if (order === 'asc') {
    const start = after !== undefined && after.lastSeenAt >= first.lastSeenAt ? after : first
    return [
      { sql: `${place} > (?, ?)`, values: [start.lastSeenAt, start.deviceId] },
      { sql: `${column} < ?`, values: [end.lastSeenAt] },
    ]
  }
  const start = after !== undefined && after.lastSeenAt < end.lastSeenAt ? after : end
  return [
    { sql: `${place} < (?, ?)`, values: [start.lastSeenAt, start.deviceId] },
    { sql: `${column} >= ?`, values: [first.lastSeenAt] },
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

function lively(status: DevicePage['status']): Clause[] {
  if (status === undefined) return []
  const [online, idle] = [silentAtMost('online'), silentAtMost('idle')]
  const { is, now } = status
  switch (is) {
    case 'online':
      return [{ sql: online, values: [now] }]
    case 'idle':
      return [{ sql: `(${idle} AND NOT ${online})`, values: [now, now] }]
    case 'offline':
      return [{ sql: `NOT ${idle}`, values: [now] }]
  }
}

/** Takes the time from which silence is measured. */
function silentAtMost(name: keyof typeof SILENCE): string {
  const { longestMs, intervals, leastMs } = SILENCE[name]
  return `? - last_seen_at <= coalesce((SELECT
    max(${intervals * 1_000} * settings.expected_interval_seconds, ${leastMs})
    FROM ${SETTINGS}), ${longestMs})`
}

function labelled({ accountId, labels }: DevicePage): Clause[] {
  if (labels === undefined) return []
  const { sql, values } = hasLabels(labels)
  return [
    {
      sql: `device_id IN (
        SELECT device_id FROM accounts.device_settings WHERE account_id = ? AND ${sql})`,
      values: [accountId, ...values],
    },
  ]
}

function mentioning(text: string | undefined): Clause[] {
  if (text === undefined) return []
  // No stored text contains it, and a pattern would end there.
  if (text.includes('\0')) return [{ sql: 'FALSE', values: [] }]
  const patterns = spellings(text).map(glob)
  const matches = (column: string) => patterns.map(() => `${column} GLOB ?`).join(' OR ')
  return [
    {
      sql: `(${matches('device_id')} OR EXISTS (
        SELECT 1 FROM ${SETTINGS} AND (${matches('settings.name')})))`,
      values: [...patterns, ...patterns],
    },
  ]
}

/** SQLite only knows ASCII capitals. */
function glob(places: readonly Spelling[]): string {
  const pattern = places.map((letters) => {
    const [only = ''] = letters
    return letters.length > 1 || '*?['.includes(only) ? `[${letters.join('')}]` : only
  })
  return `*${pattern.join('')}*`
}
