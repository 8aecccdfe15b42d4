import type { Value } from '../../runtime/sqlite/database.ts'
import { SILENCE } from '../../schemas/devices/liveness.ts'
import type { DeviceQuery } from '../read-models.ts'

/**
 * A condition in a statement over device statuses. Its text is fixed, so that there are few
 * different statements.
 */
export type Clause = { readonly sql: string; readonly values: readonly Value[] }

/** The filters by area and status, and against hidden devices. */
export function buildFilter(
  query: Pick<DeviceQuery, 'bbox' | 'status'>,
  hidden: readonly string[],
): Clause[] {
  return [...boxClauses(query.bbox), ...hiddenClauses(hidden), ...livenessClauses(query.status)]
}

function boxClauses(bbox: DeviceQuery['bbox']): Clause[] {
  if (bbox === undefined) return []
  const { west, south, east, north } = bbox
  return [
    { sql: 'latitude BETWEEN ? AND ?', values: [south, north] },
    west <= east
      ? { sql: 'longitude BETWEEN ? AND ?', values: [west, east] }
      : { sql: '(longitude >= ? OR longitude <= ?)', values: [west, east] },
  ]
}

function hiddenClauses(hidden: readonly string[]): Clause[] {
  if (hidden.length === 0) return []
  const sql = 'device_id NOT IN (SELECT value FROM json_each(?))'
  return [{ sql, values: [JSON.stringify(hidden)] }]
}

function livenessClauses(status: DeviceQuery['status']): Clause[] {
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

const INTERVAL = 'settings.expected_interval_seconds'

/** Takes the time from which silence is measured, of devices joined with their settings. */
export function silentAtMost(name: keyof typeof SILENCE): string {
  const { longestMs, intervals, leastMs } = SILENCE[name]
  return `? - last_seen_at <= coalesce(max(${intervals * 1_000} * ${INTERVAL}, ${leastMs}), ${longestMs})`
}

/** Sorts after any deviceId: it is longer, and consists of the highest code point. */
const LAST = '\u{10ffff}'.repeat(64)

/**
 * The ranges of deviceIds, ends included, covered by a list of exact ids and prefixes ending in
 * `*`: in UTF-8 byte order, without overlaps.
 */
export function deviceRanges(list: readonly string[]): (readonly [from: string, to: string])[] {
  const ranges = list
    .map((listed): [string, string] => {
      if (!listed.endsWith('*')) return [listed, listed]
      const beginning = listed.slice(0, -1)
      return [beginning, beginning + LAST]
    })
    .sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  const apart: [string, string][] = []
  for (const [from, to] of ranges) {
    const before = apart.at(-1)
    const isWithin = before !== undefined && before[1].endsWith(LAST) && from.startsWith(before[0])
    if (!isWithin && from !== before?.[0]) apart.push([from, to])
    else if (!isWithin && before !== undefined) before[1] = to
  }
  return apart
}
