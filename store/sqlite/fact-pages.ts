import type { Database, Value } from '../../runtime/sqlite/database.ts'
import type { DeviceFact } from '../../schemas/facts/facts.ts'
import type { FactsQuery } from '../facts.ts'
import { deviceRanges, type Clause } from './device-filters.ts'

/** Facts of an account, newest first, without those of hidden devices. */
export function factPages(
  database: Database,
): (query: FactsQuery, hidden: readonly string[]) => DeviceFact[] {
  return (query, hidden) => {
    const clauses = filtering(query, hidden)
    const found = database
      .prepare<{ fact: string }>(
        `SELECT fact FROM facts WHERE ${clauses.map(({ sql }) => sql).join(' AND ')}
         ORDER BY at DESC, sequence DESC, id DESC LIMIT ?`,
      )
      .all(...clauses.flatMap(({ values }) => values), query.limit)
    return found.map(({ fact }) => JSON.parse(fact) as DeviceFact)
  }
}

function filtering(query: FactsQuery, hidden: readonly string[]): Clause[] {
  const { accountId, devices, deviceId, type, definitionId, from, to, after } = query
  const clauses: Clause[] = [{ sql: 'account_id = ?', values: [accountId] }]
  const add = (sql: string, ...values: Value[]) => void clauses.push({ sql, values })
  if (deviceId !== undefined) add('device_id = ?', deviceId)
  if (type !== undefined) add('type = ?', type)
  if (definitionId !== undefined) add('definition_id = ?', definitionId)
  if (from !== undefined) add('at >= ?', from)
  if (to !== undefined) add('at < ?', to)
  if (after !== undefined) add('(at, sequence, id) < (?, ?, ?)', after.at, after.sequence, after.id)
  if (devices !== undefined) {
    // Not by an index of devices, because each of its ranges would be sorted.
    const ranges = deviceRanges(devices)
    const sql = ranges.map(() => '+device_id BETWEEN ? AND ?').join(' OR ')
    add(ranges.length === 0 ? 'FALSE' : `(${sql})`, ...ranges.flat())
  }
  if (hidden.length > 0) {
    add('device_id NOT IN (SELECT value FROM json_each(?))', JSON.stringify(hidden))
  }
  return clauses
}
