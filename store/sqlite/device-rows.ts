import type { Value } from '../../runtime/sqlite/database.ts'
import { needsNames } from '../device-ranking.ts'
import type { DevicePage } from '../read-models.ts'
import { labelText } from './device-labels.ts'
import { filtering, indexOfKey, seenWithin, silentAtMost, type Clause } from './device-filters.ts'

/** A part of the walk through an account's devices: the ids of a range, or its remainder. */
export type WalkedRange = {
  readonly from: string
  readonly to: string
  /** The last device of the part before. */
  readonly after?: string
  readonly limit: number
}

/**
 * The statement for the rows of `rankedPage`, in a range of ids: a walk along the index of the ids.
 */
export function deviceRows(
  query: DevicePage,
  { from, to, after, limit }: WalkedRange,
  hidden: readonly string[],
): { readonly sql: string; readonly values: readonly Value[] } {
  const { sort = 'deviceId', order = 'asc', now = NaN } = query
  const isUp = order === 'asc'
  const value = SORT_VALUES[sort]
  const filters: readonly Clause[] = [
    {
      sql: `device_id ${after !== undefined && isUp ? '>' : '>='} ?`,
      values: [isUp ? (after ?? from) : from],
    },
    {
      sql: `device_id ${after !== undefined && !isUp ? '<' : '<='} ?`,
      values: [isUp ? to : (after ?? to)],
    },
    ...seenWithin(query),
    ...filtering(query, hidden),
    ...labelled(query),
  ]
  const name = needsNames(query) ? 'settings.name' : 'NULL'
  const sql = `SELECT device_id, ${name}, ${value}
    FROM device_statuses ${indexOfKey(query.keyId)} LEFT JOIN accounts.device_settings AS settings USING (account_id, device_id)
    WHERE account_id = ? AND ${filters.map(({ sql }) => sql).join(' AND ')}
    ORDER BY device_id ${isUp ? 'ASC' : 'DESC'} LIMIT ?`
  const values = [query.accountId, ...filters.flatMap(({ values }) => values), limit]
  return { sql, values: sort === 'status' ? [now, now, ...values] : values }
}

/** Not as the condition of a join, which the planner would begin with the labels. */
function labelled({ labels = [] }: DevicePage): Clause[] {
  return labels.map((label) => ({
    sql: 'coalesce(instr(settings.labels, ?), 0)',
    values: [labelText([label])],
  }))
}

const INTERVAL = 'settings.expected_interval_seconds'

/** The values that devices are sorted by, in rows with their settings joined. */
const SORT_VALUES: Readonly<Record<NonNullable<DevicePage['sort']>, string>> = {
  deviceId: 'NULL',
  match: 'NULL',
  name: 'NULL',
  // As `statusOrder` says.
  status: `CASE WHEN settings.disabled THEN 3
    WHEN ${silentAtMost('online', INTERVAL)} THEN 0
    WHEN ${silentAtMost('idle', INTERVAL)} THEN 1 ELSE 2 END`,
  lastSeenAt: 'last_seen_at',
  speed: 'speed',
  timestamp: 'timestamp',
  battery: 'battery',
  labels: `replace(trim(settings.labels, char(10)), char(10), ', ')`,
  reportCount: 'report_count',
  firstSeenAt: 'first_seen_at',
}
