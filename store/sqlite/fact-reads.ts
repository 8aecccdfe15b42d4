import type { DeviceFact } from '../../schemas/facts/facts.ts'
import { endOfTurn } from '../../runtime/end-of-turn.ts'
import type { Database, Value } from '../../runtime/sqlite/database.ts'
import {
  findStandingSince,
  type DeviceSince,
  type DueDevice,
  type FactsQuery,
  type FactStore,
  hasSettings,
  type WatchSettings,
} from '../facts.ts'
import { deviceRanges, type Clause } from './device-filters.ts'
import type { FactStates } from './fact-states.ts'
import { deviceKey } from '../../schemas/events/position-reported.ts'
import type { ChangesPage, ChangesQuery } from '../definitions.ts'
import { parseLabels } from './device-labels.ts'

export type FactReads = Pick<
  FactStore,
  'pageFacts' | 'findFacts' | 'heldFacts' | 'judgedDevices' | 'definitionsStates' | 'devicesWith'
>

/** Reads facts, without those of hidden devices, and devices' standings for definitions. */
export function factReads(
  database: Database,
  {
    states,
    hiddenDevices,
  }: {
    states: Pick<FactStates, 'settle' | 'peek'>
    hiddenDevices: (accountId: string) => string[]
  },
): FactReads {
  const held = database.prepare<{ id: string }>(
    'SELECT id FROM facts WHERE account_id = ? AND id IN (SELECT value FROM json_each(?))',
  )
  const withIds = database.prepare<{ fact: string }>(
    'SELECT fact FROM facts WHERE account_id = ? AND id IN (SELECT value FROM json_each(?))',
  )
  const judgedIds = database.prepare<DueDevice>(
    `SELECT account_id AS accountId, device_id AS deviceId FROM states
     WHERE account_id = ? AND device_id > ? ORDER BY device_id LIMIT ?`,
  )
  const holders = database.prepare<{ deviceId: string }>(
    `SELECT device_id AS deviceId FROM holding
     WHERE account_id = ? AND definition_id = ? AND device_id > ? ORDER BY device_id LIMIT ?`,
  )

  return {
    /** Newest first. */
    async pageFacts(query) {
      const clauses = buildFilter(query, hiddenDevices(query.accountId))
      // Otherwise SQLite searches all facts of the account in the range.
      const index = query.deviceId === undefined ? '' : 'INDEXED BY facts_by_device'
      const found = database
        .prepare<{ fact: string }>(
          `SELECT fact FROM facts ${index} WHERE ${clauses.map(({ sql }) => sql).join(' AND ')}
           ORDER BY at DESC, sequence DESC, id DESC LIMIT ?`,
        )
        .all(...clauses.flatMap(({ values }) => values), query.limit)
      return found.map(({ fact }) => JSON.parse(fact) as DeviceFact)
    },

    async judgedDevices({ accountId, after = '', limit }) {
      await states.settle()
      return judgedIds.all(accountId, after, limit)
    },

    async definitionsStates({ accountId, deviceIds }) {
      return new Map(
        deviceIds.flatMap((deviceId) => {
          const definitions = states.peek({ accountId, deviceId })?.definitions
          return definitions === undefined ? [] : [[deviceId, definitions] as const]
        }),
      )
    },

    async findFacts({ accountId, ids }) {
      const hidden = new Set(hiddenDevices(accountId))
      return withIds.all(accountId, JSON.stringify(ids)).flatMap(({ fact: text }) => {
        const fact = JSON.parse(text) as DeviceFact
        return hidden.has(fact.deviceId) ? [] : [fact]
      })
    },

    async heldFacts({ accountId, facts }) {
      const hidden = new Set(hiddenDevices(accountId))
      const shown = facts.flatMap(({ id, deviceId }) => (hidden.has(deviceId) ? [] : [id]))
      return new Set(held.all(accountId, JSON.stringify(shown)).map(({ id }) => id))
    },

    async devicesWith({ accountId, definitionId, revision, after = '', limit }) {
      await states.settle()
      const hidden = new Set(hiddenDevices(accountId))
      const devices: DeviceSince[] = []
      for (let last: string | undefined = after; last !== undefined; await endOfTurn()) {
        const some = holders.all(accountId, definitionId, last, limit)
        last = some.length < limit ? undefined : some.at(-1)?.deviceId
        for (const { deviceId } of some) {
          if (hidden.has(deviceId)) continue
          const definitions = states.peek({ accountId, deviceId })?.definitions
          const since = definitions && findStandingSince(definitions, definitionId, revision)
          if (since !== undefined) devices.push({ deviceId, since })
        }
        if (devices.length >= limit) break
      }
      return devices.slice(0, limit)
    },
  }
}

function buildFilter(query: FactsQuery, hidden: readonly string[]): Clause[] {
  const { accountId, devices, deviceId, deviceIds, type, definitionId, from, to, after } = query
  const clauses: Clause[] = [{ sql: 'account_id = ?', values: [accountId] }]
  const add = (sql: string, ...values: Value[]) => void clauses.push({ sql, values })
  if (deviceId !== undefined) add('device_id = ?', deviceId)
  // Not by the index of devices, as below.
  if (deviceIds !== undefined) {
    add('+device_id IN (SELECT value FROM json_each(?))', JSON.stringify(deviceIds))
  }
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

type ChangeRow = {
  readonly version: number
  readonly at: number
  readonly account_id: string
  readonly device_id: string
  /** Null if the device no longer has settings. */
  readonly disabled: number | null
  readonly enabled_at: number | null
  readonly expected_interval_seconds: number | null
  readonly labels: string | null
  readonly labels_changed_at: number | null
  readonly changed_at: number
}

const READ_AT_ONCE = 500

/** The settings that judging depends on, in the order of their changes. */
export function sqliteWatchSettings(
  accounts: Database,
): (query: ChangesQuery) => ChangesPage<WatchSettings> {
  const changes = accounts.prepare<ChangeRow>(
    `SELECT version, at, account_id, device_id, disabled, enabled_at, expected_interval_seconds,
       labels, labels_changed_at, changed_at
     FROM settings_changes LEFT JOIN device_settings USING (account_id, device_id)
     WHERE version > ? ORDER BY version LIMIT ${READ_AT_ONCE}`,
  )

  return ({ after, isKnown }) => {
    const rows = changes.all(after)
    return {
      changes: rows.flatMap((row) => {
        const { version, at } = row
        const settings = toWatchSettings(row)
        const id = deviceKey(settings)
        if (isKnown(id, version)) return []
        const change = { id, version, changedAt: at * 1_000 }
        return [hasSettings(settings) ? { ...change, definition: settings } : change]
      }),
      last: rows.at(-1)?.version ?? after,
      isEnd: rows.length < READ_AT_ONCE,
    }
  }
}

function toWatchSettings(row: ChangeRow): WatchSettings {
  const { expected_interval_seconds: expectedIntervalSeconds, enabled_at: enabledSince } = row
  return {
    accountId: row.account_id,
    deviceId: row.device_id,
    disabled: row.disabled === 1,
    ...(enabledSince !== null && { enabledSince }),
    ...(expectedIntervalSeconds !== null && { expectedIntervalSeconds }),
    ...(row.labels !== null && {
      labels: parseLabels(row.labels),
      labelledSince: row.labels_changed_at ?? row.changed_at,
    }),
  }
}
