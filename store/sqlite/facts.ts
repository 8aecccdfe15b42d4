import type { FactState } from '../../schemas/fact-state.ts'
import type { DeviceFact } from '../../schemas/facts.ts'
import { endOfTurn } from '../../runtime/end-of-turn.ts'
import type { Database } from '../../runtime/sqlite/database.ts'
import {
  definitionsHolding,
  erasedState,
  standingSince,
  stateSeenAt,
  type DueDevice,
  type FactStore,
  type JudgedFacts,
} from '../facts.ts'
import { WentBackError } from '../projection-batch.ts'
import { sqliteFactLog, type SqliteFactLog } from './fact-log.ts'
import type { FactLog } from '../../event-log/fact-log.ts'
import { factPages } from './fact-pages.ts'
import { factProgress } from './fact-progress.ts'
import { factStates, type KnownState } from './fact-states.ts'
import { sqliteWatchSettings } from './watch-settings.ts'

export const FACTS_FILE = 'facts.sqlite'

const REMOVED_AT_ONCE = 1_000

const NOTHING: JudgedFacts = { facts: [], failed: [] }

type Options = {
  readonly accounts: Database
  readonly clock: { now(): number }
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
      const closing = opened
      opened = undefined
      closing?.log.close()
      try {
        closing?.facts.writeAll()
      } finally {
        closing?.database.close()
      }
    },
  }
}

type Opened = {
  readonly database: Database
  readonly log: SqliteFactLog
  readonly facts: ReturnType<typeof factsIn>
}

/**
 * States, facts and progress are written in one transaction. States without new facts may be written later, and then
 * the file's progress stays before the entries that they lack.
 */
function factsIn(
  database: Database,
  { accounts, hiddenDevices, clock, log }: Options & { readonly log: SqliteFactLog },
): FactStore & { writeAll(): void } {
  const begun = database.prepare('SELECT 1 FROM begun')
  const begin = database.prepare('INSERT OR IGNORE INTO begun VALUES (1)')
  const seed = database.prepare('INSERT OR IGNORE INTO states VALUES (?, ?, ?, ?, ?, ?)')
  const insert = database.prepare(
    `INSERT INTO facts (id, account_id, device_id, type, at, decided_at, fact)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  )
  const removeFacts = database.prepare('DELETE FROM facts WHERE account_id = ? AND device_id = ?')
  const held = database.prepare<{ id: string }>(
    'SELECT id FROM facts WHERE account_id = ? AND id IN (SELECT value FROM json_each(?))',
  )
  const expire = database.prepare(
    `DELETE FROM facts WHERE place IN
     (SELECT place FROM facts WHERE decided_at < ? LIMIT ${REMOVED_AT_ONCE})`,
  )
  const expireStates = database.prepare<DueDevice & { state: string }>(
    `DELETE FROM states WHERE seen_at < ?
     RETURNING account_id AS accountId, device_id AS deviceId, state`,
  )
  const holdNoMore = database.prepare(
    'DELETE FROM holding WHERE account_id = ? AND definition_id = ? AND device_id = ?',
  )
  const judgedIds = database.prepare<DueDevice>(
    `SELECT account_id AS accountId, device_id AS deviceId FROM states
     WHERE account_id = ? AND device_id > ? ORDER BY device_id LIMIT ?`,
  )
  const holders = database.prepare<{ deviceId: string }>(
    `SELECT device_id AS deviceId FROM holding WHERE account_id = ? AND definition_id = ?
     ORDER BY device_id`,
  )
  const watchSettings = sqliteWatchSettings(accounts)
  const page = factPages(database)
  const states = factStates(database, clock)
  const progress = factProgress(database, states)

  /** A transaction; if it fails, everything is as in the file. */
  function writing(work: () => void): void {
    try {
      database.transaction(work)
    } catch (error) {
      states.forget()
      progress.forget()
      throw error
    }
  }

  return {
    writeAll() {
      writing(() => {
        states.writeAll()
        progress.save()
      })
    },

    async factsProgress() {
      if (begun.get() === undefined) return undefined
      return Object.fromEntries(
        Array.from(progress.judged(), ([partition, { last_offset }]) => [partition, last_offset]),
      )
    },

    lastJudged: async () =>
      Object.fromEntries(
        Array.from(progress.judged().values()).flatMap(
          ({ log_partition, event_offset: offset, event_id: id }) =>
            offset === null || id === null ? [] : [[log_partition, { offset, id }]],
        ),
      ),

    async seedFacts(seeds) {
      writing(() => {
        for (const { accountId, deviceId, partition, state } of seeds) {
          const seenAt = stateSeenAt(state)
          seed.run(accountId, deviceId, partition, state.due, seenAt, JSON.stringify(state))
        }
      })
      states.forget()
    },

    async beginFacts(places) {
      writing(() => {
        if (begun.get() !== undefined) return
        begin.run()
        for (const [partition, offset] of Object.entries(places)) {
          progress.begin(Number(partition), offset)
        }
        progress.forget()
      })
    },

    async judgeFacts({ read, devices }) {
      let after = -1
      if (read !== undefined) {
        after = progress.judged().get(read.partition)?.last_offset ?? -1
        if (after < (read.after ?? -1)) {
          throw new WentBackError(read.partition, { from: read.after ?? -1, to: after })
        }
        if (read.lastOffset <= after) return NOTHING
      }
      const facts: DeviceFact[] = []
      /** To be written together with the facts. */
      const decided = new Set<KnownState>()
      for (const device of devices) {
        const known = states.find(device)
        for (let isPartial = true; isPartial;) {
          const judged = device.judge(known.state)
          // An entry that was judged already changes nothing.
          if (judged === undefined || judged.state === known.state) break
          states.change(known, judged.state, read?.partition ?? known.partition, after)
          // Without entries that could be judged again, nothing may wait.
          if (judged.facts.length > 0 || read === undefined) decided.add(known)
          for (const fact of judged.facts) facts.push(fact)
          isPartial = judged.isPartial === true
        }
      }
      if (read !== undefined) progress.move(read)
      const overdue = read === undefined ? [] : states.overdue(read.partition, read.lastOffset)
      const mustWrite = decided.size + overdue.length > 0
      if (!mustWrite && (read === undefined || !progress.isFileBehind(read))) {
        return { facts, failed: [] }
      }
      writing(() => {
        states.write(decided)
        states.write(overdue)
        for (const fact of facts) {
          const { id, accountId, deviceId, type, at, decidedAt } = fact
          insert.execute(id, accountId, deviceId, type, at, decidedAt, JSON.stringify(fact))
        }
        progress.save()
      })
      if (facts.length > 0) log.appended()
      return { facts, failed: [] }
    },

    async eraseFacts(erasure) {
      const known = states.find(erasure.event)
      const state = erasedState(known.state, erasure)
      if (state === undefined) return
      const { partition, offset } = erasure.origin
      states.change(known, state, partition, offset - 1)
      writing(() => {
        states.write([known])
        removeFacts.run(known.accountId, known.deviceId)
        log.addErasure(erasure.event)
      })
      log.appended()
    },

    dueDevices: async (query) => states.dueDevices(query),

    pageFacts: async (query) => page(query, hiddenDevices(query.accountId)),

    async expireFacts(before, signal) {
      log.expire(before)
      while (signal?.aborted !== true && expire.run(before) > 0) await endOfTurn()
      writing(() => {
        states.writeAll()
        progress.save()
        for (const { accountId, deviceId, state } of expireStates.all(before)) {
          const holding = definitionsHolding(JSON.parse(state) as FactState)
          for (const id of holding) holdNoMore.run(accountId, id, deviceId)
        }
      })
      states.forget()
    },

    watchSettings: async (query) => watchSettings(query),

    async judgedDevices({ accountId, after = '', limit }) {
      states.settle()
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

    async heldFacts({ accountId, facts }) {
      const hidden = new Set(hiddenDevices(accountId))
      const shown = facts.flatMap(({ id, deviceId }) => (hidden.has(deviceId) ? [] : [id]))
      return new Set(held.all(accountId, JSON.stringify(shown)).map(({ id }) => id))
    },

    async devicesWith({ accountId, definitionId, revision }) {
      states.settle()
      const hidden = new Set(hiddenDevices(accountId))
      return holders.all(accountId, definitionId).flatMap(({ deviceId }) => {
        if (hidden.has(deviceId)) return []
        const definitions = states.peek({ accountId, deviceId })?.definitions
        const since = definitions && standingSince(definitions, definitionId, revision)
        return since === undefined ? [] : [{ deviceId, since }]
      })
    },
  }
}
