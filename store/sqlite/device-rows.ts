import type { Value } from '../../runtime/sqlite/database.ts'
import type { DeviceQuery } from '../read-models.ts'
import { labelText } from './device-labels.ts'
import { buildFilter, silentAtMost, type Clause } from './device-filters.ts'

/** A statement, and its values. */
export type Selection = { readonly sql: string; readonly values: readonly Value[] }

/** The account whose devices are walked, or the key, if only its devices count. */
export type Walked = Pick<DeviceQuery, 'accountId' | 'keyId' | 'order'>

type Index = 'id' | 'time'

const ORDERED: Readonly<Record<Index, readonly string[]>> = {
  id: ['device_id'],
  time: ['last_seen_at', 'device_id'],
}

/**
 * The statement for the position, in an index, of the last of the next devices, regardless of
 * filters; no row if there are fewer.
 */
export function endOfPart(
  { accountId, keyId, order }: Walked,
  { index, bounds, size }: { index: Index; bounds: readonly Clause[]; size: number },
): Selection {
  const columns = ORDERED[index]
  const clauses = [...keyClauses(keyId), ...bounds]
  const sql = `SELECT ${columns.join(', ')} FROM device_statuses ${indexOfKey(keyId)}
    WHERE ${conditions(clauses)} ORDER BY ${sortRows(columns, order)} LIMIT 1 OFFSET ?`
  return { sql, values: [accountId, ...valuesOf(clauses), size - 1] }
}

/** The statement for the narrow rows of a part, in index order. */
export function rowsOfPart(
  query: DeviceQuery,
  {
    index,
    bounds,
    most,
    hidden,
  }: { index: Index; bounds: readonly Clause[]; most: number; hidden: readonly string[] },
): Selection {
  const { accountId, keyId, order, sort = 'deviceId', words, labels, status } = query
  const clauses = [
    ...keyClauses(keyId),
    ...bounds,
    ...seenClauses(query),
    ...buildFilter(query, hidden),
  ]
  const withSettings = [...clauses, ...labelClauses(query)]
  const isJoined = words !== undefined || labels !== undefined || status !== undefined
  const sql = `SELECT device_id, ${words === undefined ? 'NULL' : 'settings.name'}, ${SORT_VALUES[sort]}
    FROM device_statuses ${indexOfKey(keyId)} ${isJoined ? JOINED : ''}
    WHERE ${conditions(withSettings)} ORDER BY ${sortRows(ORDERED[index], order)} LIMIT ?`
  return { sql, values: [accountId, ...valuesOf(withSettings), most] }
}

/** The statement that counts the devices of a part by their status. */
export function countsOfPart(
  { accountId, now }: { readonly accountId: string; readonly now: number },
  { bounds, hidden }: { bounds: readonly Clause[]; hidden: readonly string[] },
): Selection {
  const clauses = [...bounds, ...buildFilter({}, hidden)]
  const [online, idle] = [silentAtMost('online'), silentAtMost('idle')]
  const sql = `SELECT count(*) AS total,
      count(*) FILTER (WHERE ${online}) AS online,
      count(*) FILTER (WHERE ${idle} AND NOT ${online}) AS idle,
      count(*) FILTER (WHERE NOT ${idle}) AS offline,
      count(*) FILTER (WHERE settings.disabled) AS disabled
    FROM device_statuses ${JOINED} WHERE ${conditions(clauses)}`
  return { sql, values: [now, now, now, now, accountId, ...valuesOf(clauses)] }
}

const JOINED = 'LEFT JOIN accounts.device_settings AS settings USING (account_id, device_id)'

const SORT_VALUES: Readonly<Record<NonNullable<DeviceQuery['sort']>, string>> = {
  deviceId: 'NULL',
  match: 'NULL',
  lastSeenAt: 'last_seen_at',
  firstSeenAt: 'first_seen_at',
}

function conditions(clauses: readonly Clause[]): string {
  return ['account_id = ?', ...clauses.map(({ sql }) => sql)].join(' AND ')
}

function valuesOf(clauses: readonly Clause[]): Value[] {
  return clauses.flatMap(({ values }) => values)
}

function sortRows(columns: readonly string[], order: DeviceQuery['order']): string {
  return columns.map((column) => `${column} ${order === 'desc' ? 'DESC' : 'ASC'}`).join(', ')
}

function keyClauses(keyId: string | undefined): Clause[] {
  return keyId === undefined ? [] : [{ sql: 'last_key_id = ?', values: [keyId] }]
}

/**
 * For a range of ids, the planner would choose the index by id even for the devices of one key.
 */
function indexOfKey(keyId: string | undefined): string {
  return keyId === undefined ? '' : 'INDEXED BY device_statuses_by_key'
}

/** The `+` stops the planner from scanning by time and sorting the result. */
function seenClauses({ seenFrom, seenBefore }: DeviceQuery): Clause[] {
  const clauses: Clause[] = []
  if (seenFrom !== undefined) clauses.push({ sql: '+last_seen_at >= ?', values: [seenFrom] })
  if (seenBefore !== undefined) clauses.push({ sql: '+last_seen_at < ?', values: [seenBefore] })
  return clauses
}

/** Not as a join condition: the planner would then start with the labels. */
function labelClauses({ labels = [] }: DeviceQuery): Clause[] {
  return labels.map((label) => ({
    sql: 'coalesce(instr(settings.labels, ?), 0)',
    values: [labelText([label])],
  }))
}
