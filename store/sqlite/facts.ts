import type { FactState } from '../../schemas/facts/fact-state.ts'
import { endOfTurn } from '../../runtime/end-of-turn.ts'
import type { Database } from '../../runtime/sqlite/database.ts'
import {
  definitionsHolding,
  eraseState,
  findLastSeen,
  type DueDevice,
  type FactStore,
} from '../facts.ts'
import { sqliteFactLog, type SqliteFactLog } from './fact-log.ts'
import type { FactLog } from '../../event-log/fact-log.ts'
import { factReads, sqliteWatchSettings } from './fact-reads.ts'
import { factStates } from './fact-states.ts'
import { factProgress, judgeInTransactions } from './judge-facts.ts'

export const FACTS_FILE = 'facts.sqlite'

const REMOVED_AT_ONCE = 1_000
const EXPIRED_AT_ONCE = 500

type Options = {
  readonly accounts: Database
  readonly clock: { now(): number }
  /** The hidden devices of an account. */
  readonly hiddenDevices: (accountId: string) => string[]
}

/** Facts in a file that is opened on first use. */
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
      opened = { database, log, facts: readFacts(database, { ...options, log }) }
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
    findFacts: async (query) => facts().findFacts(query),
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
  readonly facts: ReturnType<typeof readFacts>
}

/**
 * States, facts and progress are written in one transaction. States without new facts may be
 * written later; until then the file's progress stays before the entries they lack.
 */
function readFacts(
  database: Database,
  { accounts, hiddenDevices, clock, log }: Options & { readonly log: SqliteFactLog },
): FactStore & { writeAll(): void } {
  const begun = database.prepare('SELECT 1 FROM begun')
  const begin = database.prepare('INSERT OR IGNORE INTO begun VALUES (1)')
  const seed = database.prepare('INSERT OR IGNORE INTO states VALUES (?, ?, ?, ?, ?, ?)')
  const removeFacts = database.prepare('DELETE FROM facts WHERE account_id = ? AND device_id = ?')
  const expire = database.prepare(
    `DELETE FROM facts WHERE place IN
     (SELECT place FROM facts WHERE decided_at < ? LIMIT ${REMOVED_AT_ONCE})`,
  )
  const expiring = database.prepare<DueDevice>(
    `SELECT account_id AS accountId, device_id AS deviceId FROM states WHERE seen_at < ?
     LIMIT ${EXPIRED_AT_ONCE}`,
  )
  const expireState = database.prepare<{ state: string }>(
    'DELETE FROM states WHERE account_id = ? AND device_id = ? AND seen_at < ? RETURNING state',
  )
  const holdNoMore = database.prepare(
    'DELETE FROM holding WHERE account_id = ? AND definition_id = ? AND device_id = ?',
  )
  const watchSettings = sqliteWatchSettings(accounts)
  const states = factStates(database, clock, () => progress.forget())
  const progress = factProgress(database, states)
  const judgeFacts = judgeInTransactions(database, { states, progress, log })

  return {
    ...factReads(database, { states, hiddenDevices }),
    watchSettings: async (query) => watchSettings(query),

    writeAll() {
      for (const piece of states.unwritten()) states.write(piece)
      database.transaction(() => progress.save([]))
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
      database.transaction(() => {
        for (const { accountId, deviceId, partition, state } of seeds) {
          const seenAt = findLastSeen(state)
          seed.run(accountId, deviceId, partition, state.due, seenAt, JSON.stringify(state))
        }
      })
      for (const device of seeds) states.reread(device)
    },

    async beginFacts(places) {
      if (begun.get() !== undefined) return
      database.transaction(() => {
        begin.run()
        for (const [partition, offset] of Object.entries(places)) {
          progress.begin(Number(partition), offset)
        }
      })
      progress.forget()
    },

    judgeFacts,

    async eraseFacts(erasure) {
      const known = states.find(erasure.event)
      const state = eraseState(known.state, erasure)
      if (state === undefined) return
      const { partition } = erasure.origin
      const change = { known, state, partition }
      states.write([change], () => {
        removeFacts.run(known.accountId, known.deviceId)
        log.addErasure(erasure.event)
        progress.save([change])
      })
      log.appended()
    },

    dueDevices: (query) => states.dueDevices(query),

    async expireFacts(before, signal) {
      log.expire(before)
      while (signal?.aborted !== true && expire.run(before) > 0) await endOfTurn()
      while (signal?.aborted !== true) {
        const silent = expiring.all(before)
        // The file's states may be older than the unwritten ones.
        states.write(silent.flatMap((device) => states.unwrittenOf(device) ?? []))
        database.transaction(() => {
          for (const { accountId, deviceId } of silent) {
            const gone = expireState.get(accountId, deviceId, before)
            if (gone === undefined) continue
            for (const id of definitionsHolding(JSON.parse(gone.state) as FactState)) {
              holdNoMore.run(accountId, id, deviceId)
            }
          }
        })
        for (const device of silent) states.reread(device)
        if (silent.length < EXPIRED_AT_ONCE) return
        await endOfTurn()
      }
    },
  }
}
