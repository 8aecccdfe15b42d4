import type { FactState } from '../../schemas/fact-state.ts'
import type { DeviceFact } from '../../schemas/facts.ts'
import { deviceKey } from '../../schemas/position-reported.ts'
import { endOfTurn } from '../../runtime/end-of-turn.ts'
import type { Database, Value } from '../../runtime/sqlite/database.ts'
import {
  erasedState,
  standingSince,
  stateSeenAt,
  type DueDevice,
  type FactStore,
  type FactsBatch,
  type FactsQuery,
  type WatchSettings,
} from '../facts.ts'
import { WentBackError } from '../projection-batch.ts'
import { labelsIn } from './device-labels.ts'
import { deviceRanges, type Clause } from './device-filters.ts'
import { sqliteFactLog, type SqliteFactLog } from './fact-log.ts'
import type { FactLog } from '../../event-log/fact-log.ts'
import type { DeviceName } from './device-statuses.ts'

export const FACTS_FILE = 'facts.sqlite'

const REMOVED_AT_ONCE = 1_000

type StateRow = { readonly partition: number; readonly due: number | null; readonly state: string }
type ProgressRow = {
  readonly log_partition: number
  readonly last_offset: number
  readonly event_offset: number | null
  readonly event_id: string | null
}
type SettingsRow = {
  readonly account_id: string
  readonly device_id: string
  readonly disabled: number
  readonly expected_interval_seconds: number | null
}

type LabelledRow = SettingsRow & { readonly labels: string; readonly changed_at: number }

type Options = {
  readonly accounts: Database
  /** The hidden devices of an account. */
  readonly hiddenDevices: (accountId: string) => string[]
}

/** Facts in a file that is opened when they are first asked for. */
export function sqliteFacts({
  openFacts,
  ...options
}: Options & { readonly openFacts: () => Database }): FactStore & {
  readonly factLog: FactLog
  closeFacts(): void
} {
  let opened: Opened | undefined
  function open(): Opened {
    if (opened === undefined) {
      const database = openFacts()
      const log = sqliteFactLog(database)
      opened = { database, log, facts: factsIn(database, { ...options, log }) }
    }
    return opened
  }
  const facts = () => open().facts

  return {
    factsProgress: async () => facts().factsProgress(),
    lastJudged: async () => facts().lastJudged(),
    seedFacts: async (seeds) => facts().seedFacts(seeds),
    beginFacts: async (progress) => facts().beginFacts(progress),
    judgeFacts: async (batch) => facts().judgeFacts(batch),
    eraseFacts: async (erasure) => facts().eraseFacts(erasure),
    dueDevices: async (query) => facts().dueDevices(query),
    pageFacts: async (query) => facts().pageFacts(query),
    expireFacts: async (before, signal) => facts().expireFacts(before, signal),
    watchSettings: async (query) => facts().watchSettings(query),
    judgedDevices: async (query) => facts().judgedDevices(query),
    definitionsStates: async (query) => facts().definitionsStates(query),
    devicesWith: async (query) => facts().devicesWith(query),
    heldFacts: async (query) => facts().heldFacts(query),
    factLog: {
      async *tail(options) {
        yield* open().log.tail(options)
      },
      extent: async () => open().log.extent(),
      placeBefore: async (time) => open().log.placeBefore(time),
    },
    closeFacts() {
      opened?.log.close()
      opened?.database.close()
    },
  }
}

type Opened = {
  readonly database: Database
  readonly log: SqliteFactLog
  readonly facts: FactStore
}

/** States, facts and progress are written in one transaction. */
function factsIn(
  database: Database,
  { accounts, hiddenDevices, log }: Options & { readonly log: SqliteFactLog },
): FactStore {
  const begun = database.prepare('SELECT 1 FROM begun')
  const begin = database.prepare('INSERT OR IGNORE INTO begun VALUES (1)')
  const progress = database.prepare<ProgressRow>('SELECT * FROM progress')
  const moveProgress = database.prepare(
    `INSERT INTO progress VALUES (?, ?, ?, ?) ON CONFLICT (log_partition) DO UPDATE SET
       last_offset = excluded.last_offset,
       event_offset = coalesce(excluded.event_offset, event_offset),
       event_id = coalesce(excluded.event_id, event_id)`,
  )
  const findState = database.prepare<StateRow>(
    'SELECT log_partition AS "partition", due, state FROM states WHERE account_id = ? AND device_id = ?',
  )
  const saveState = database.prepare('REPLACE INTO states VALUES (?, ?, ?, ?, ?, ?)')
  // Most reports move no deadline: the index of deadlines is not written then.
  const changeState = database.prepare(
    'UPDATE states SET seen_at = ?, state = ? WHERE account_id = ? AND device_id = ?',
  )
  const seed = database.prepare('INSERT OR IGNORE INTO states VALUES (?, ?, ?, ?, ?, ?)')
  const insert = database.prepare(
    `INSERT INTO facts (id, account_id, device_id, type, at, decided_at, fact)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  )
  const removeFacts = database.prepare('DELETE FROM facts WHERE account_id = ? AND device_id = ?')
  const held = database.prepare<{ id: string }>(
    'SELECT id FROM facts WHERE account_id = ? AND id IN (SELECT value FROM json_each(?))',
  )
  const due = database.prepare<DueDevice>(
    `SELECT account_id AS accountId, device_id AS deviceId FROM states
     WHERE log_partition = ? AND due <= ? ORDER BY due LIMIT ?`,
  )
  const expire = database.prepare(
    `DELETE FROM facts WHERE place IN
     (SELECT place FROM facts WHERE decided_at < ? LIMIT ${REMOVED_AT_ONCE})`,
  )
  const expireStates = database.prepare('DELETE FROM states WHERE seen_at < ?')
  const judgedIds = database.prepare<DueDevice>(
    `SELECT account_id AS accountId, device_id AS deviceId FROM states
     WHERE account_id = ? AND device_id > ? ORDER BY device_id LIMIT ?`,
  )
  const someStates = database.prepare<{ deviceId: string; state: string }>(
    `SELECT device_id AS deviceId, state FROM states
     WHERE account_id = ? AND device_id IN (SELECT value FROM json_each(?))`,
  )
  // The text of a state is searched before it is parsed: most devices are elsewhere.
  const statesNaming = database.prepare<{ deviceId: string; state: string }>(
    `SELECT device_id AS deviceId, state FROM states
     WHERE account_id = ? AND instr(state, ?) > 0 ORDER BY device_id`,
  )
  const labelled = accounts.prepare<LabelledRow>(
    `SELECT account_id, device_id, disabled, expected_interval_seconds, labels, changed_at
     FROM device_settings WHERE labels IS NOT NULL`,
  )
  const settings = accounts.prepare<SettingsRow>(
    `SELECT account_id, device_id, disabled, expected_interval_seconds FROM device_settings
     WHERE disabled = 1
     UNION SELECT account_id, device_id, disabled, expected_interval_seconds FROM device_settings
     WHERE expected_interval_seconds IS NOT NULL`,
  )

  function offsets(): Record<number, number> {
    return Object.fromEntries(
      progress.all().map(({ log_partition, last_offset }) => [log_partition, last_offset]),
    )
  }

  function save({ accountId, deviceId }: DeviceName, partition: number, state: FactState): void {
    const seenAt = stateSeenAt(state)
    saveState.run(accountId, deviceId, partition, state.due, seenAt, JSON.stringify(state))
  }

  function judgeNow({ read, devices }: FactsBatch): DeviceFact[] {
    const decided: DeviceFact[] = []
    for (const device of devices) {
      const { accountId, deviceId } = device
      const row = findState.get(accountId, deviceId)
      const before = row && (JSON.parse(row.state) as FactState)
      const judged = device.judge(before)
      if (judged === undefined) continue
      const { state, facts } = judged
      const partition = read?.partition ?? row?.partition ?? 0
      if (row === undefined || row.due !== state.due) save(device, partition, state)
      else changeState.run(stateSeenAt(state), JSON.stringify(state), accountId, deviceId)
      for (const fact of facts) {
        const { id, type, at, decidedAt } = fact
        insert.run(id, accountId, deviceId, type, at, decidedAt, JSON.stringify(fact))
        decided.push(fact)
      }
    }
    if (read !== undefined) {
      const { partition, lastOffset, lastEvent } = read
      moveProgress.run(partition, lastOffset, lastEvent?.offset ?? null, lastEvent?.id ?? null)
    }
    return decided
  }

  return {
    factsProgress: async () => (begun.get() === undefined ? undefined : offsets()),

    lastJudged: async () =>
      Object.fromEntries(
        progress.all().flatMap(({ log_partition, event_offset: offset, event_id: id }) => {
          return offset === null || id === null ? [] : [[log_partition, { offset, id }]]
        }),
      ),

    async seedFacts(seeds) {
      database.transaction(() => {
        for (const { accountId, deviceId, partition, state } of seeds) {
          const seenAt = stateSeenAt(state)
          seed.run(accountId, deviceId, partition, state.due, seenAt, JSON.stringify(state))
        }
      })
    },

    async beginFacts(places) {
      database.transaction(() => {
        if (begun.get() !== undefined) return
        begin.run()
        for (const [partition, offset] of Object.entries(places)) {
          moveProgress.run(Number(partition), offset, null, null)
        }
      })
    },

    async judgeFacts(batch) {
      const decided = database.transaction(() => {
        if (batch.read === undefined) return judgeNow(batch)
        const { partition, after = -1, lastOffset } = batch.read
        const done = offsets()[partition] ?? -1
        if (done < after) throw new WentBackError(partition, { from: after, to: done })
        return lastOffset <= done ? [] : judgeNow(batch)
      })
      if (decided.length > 0) log.appended()
      return decided
    },

    async eraseFacts(erasure) {
      database.transaction(() => {
        const { accountId, deviceId } = erasure.event
        const row = findState.get(accountId, deviceId)
        const state = erasedState(row && (JSON.parse(row.state) as FactState), erasure)
        if (state === undefined) return
        save(erasure.event, erasure.origin.partition, state)
        removeFacts.run(accountId, deviceId)
        log.addErasure(erasure.event)
      })
      log.appended()
    },

    dueDevices: async ({ now, limit, partition }) => due.all(partition, now, limit),

    async pageFacts(query) {
      const clauses = filtering(query, hiddenDevices(query.accountId))
      const found = database
        .prepare<{ fact: string }>(
          `SELECT fact FROM facts WHERE ${clauses.map(({ sql }) => sql).join(' AND ')}
           ORDER BY at DESC, id DESC LIMIT ?`,
        )
        .all(...clauses.flatMap(({ values }) => values), query.limit)
      return found.map(({ fact }) => JSON.parse(fact) as DeviceFact)
    },

    async expireFacts(before, signal) {
      log.expire(before)
      while (signal?.aborted !== true && expire.run(before) > 0) await endOfTurn()
      expireStates.run(before)
    },

    async watchSettings({ labels }) {
      const watched = settings.all().map(watchedIn)
      if (!labels) return watched
      const known = labelled.all().map((row): WatchSettings => ({
        ...watchedIn(row),
        labels: labelsIn(row.labels),
        changedAt: row.changed_at,
      }))
      const ids = new Set(known.map(deviceKey))
      return [...watched.filter((device) => !ids.has(deviceKey(device))), ...known]
    },

    judgedDevices: async ({ accountId, after = '', limit }) =>
      judgedIds.all(accountId, after, limit),

    async definitionsStates({ accountId, deviceIds }) {
      const rows = someStates.all(accountId, JSON.stringify(deviceIds))
      return new Map(
        rows.flatMap(({ deviceId, state }) => {
          const { definitions } = JSON.parse(state) as FactState
          return definitions === undefined ? [] : [[deviceId, definitions] as const]
        }),
      )
    },

    async heldFacts({ accountId, facts }) {
      const hidden = new Set(hiddenDevices(accountId))
      const shown = facts.flatMap(({ id, deviceId }) => (hidden.has(deviceId) ? [] : [id]))
      return new Set(held.all(accountId, JSON.stringify(shown)).map(({ id }) => id))
    },

    async devicesWith({ accountId, definitionId, revision }) {
      const hidden = new Set(hiddenDevices(accountId))
      return statesNaming.all(accountId, definitionId).flatMap(({ deviceId, state }) => {
        const { definitions } = JSON.parse(state) as FactState
        const since = definitions && standingSince(definitions, definitionId, revision)
        return since === undefined || hidden.has(deviceId) ? [] : [{ deviceId, since }]
      })
    },
  }
}

function watchedIn(row: SettingsRow): WatchSettings {
  return {
    accountId: row.account_id,
    deviceId: row.device_id,
    disabled: row.disabled === 1,
    ...(row.expected_interval_seconds !== null && {
      expectedIntervalSeconds: row.expected_interval_seconds,
    }),
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
  if (after !== undefined) add('(at, id) < (?, ?)', after.at, after.id)
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
