import type { Value } from '../../runtime/sqlite/database.ts'
import { SILENCE } from '../../schemas/liveness.ts'
import type { DevicePage } from '../read-models.ts'

/** Conditions of statements over device statuses. Fixed texts only, so that there are few different statements. */
export type Clause = { readonly sql: string; readonly values: readonly Value[] }

/** The settings of the current row's device; their file is attached as `accounts`. */
export const SETTINGS = `accounts.device_settings AS settings
  WHERE settings.account_id = device_statuses.account_id
    AND settings.device_id = device_statuses.device_id`

/** All filters but those by time and by labels. */
export function filtering(query: DevicePage, hidden: readonly string[]): Clause[] {
  return [
    ...(query.keyId === undefined ? [] : [{ sql: 'last_key_id = ?', values: [query.keyId] }]),
    ...inside(query.bbox),
    ...without(hidden),
    ...lively(query.status),
  ]
}

/** With a range of ids, the planner takes the index of the ids even for the devices of one key. */
export function indexOfKey(keyId: string | undefined): string {
  return keyId === undefined ? '' : 'INDEXED BY device_statuses_by_key'
}

/** The `+` stops the planner from scanning by time and sorting the result. */
export function seenWithin({
  seenFrom,
  seenBefore,
}: Pick<DevicePage, 'seenFrom' | 'seenBefore'>): Clause[] {
  const clauses: Clause[] = []
  if (seenFrom !== undefined) clauses.push({ sql: '+last_seen_at >= ?', values: [seenFrom] })
  if (seenBefore !== undefined) clauses.push({ sql: '+last_seen_at < ?', values: [seenBefore] })
  return clauses
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

export function without(hidden: readonly string[]): Clause[] {
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

const OWN_INTERVAL = `(SELECT settings.expected_interval_seconds FROM ${SETTINGS})`

/** Takes the time from which silence is measured. */
export function silentAtMost(name: keyof typeof SILENCE, interval = OWN_INTERVAL): string {
  const { longestMs, intervals, leastMs } = SILENCE[name]
  return `? - last_seen_at <= coalesce(max(${intervals * 1_000} * ${interval}, ${leastMs}), ${longestMs})`
}
