import type { FactState } from '../../schemas/facts/fact-state.ts'
import type { DeviceFact } from '../../schemas/facts/facts.ts'
import { endOfTurn } from '../../runtime/end-of-turn.ts'
import { isRefused } from '../../runtime/sqlite/sqlite-errors.ts'
import type { Database } from '../../runtime/sqlite/database.ts'
import {
  definitionsHolding,
  erasedState,
  standingSince,
  stateSeenAt,
  stateSize,
  type DeviceSince,
  type DueDevice,
  type EntriesRead,
  type FactStore,
  type FailedDevice,
  type JudgedFacts,
} from '../facts.ts'
import { WentBackError } from '../projection-batch.ts'
import { sqliteFactLog, type SqliteFactLog } from './fact-log.ts'
import type { FactLog } from '../../event-log/fact-log.ts'
import { factPages } from './fact-pages.ts'
import { factProgress } from './fact-progress.ts'
import { factStates, type StateChange } from './fact-states.ts'
import { sqliteWatchSettings } from './watch-settings.ts'

export const FACTS_FILE = 'facts.sqlite'

const REMOVED_AT_ONCE = 1_000
const EXPIRED_AT_ONCE = 500
/** A transaction writes this much of states and facts, as JSON, or those of one judging. */
const WRITTEN_AT_ONCE_BYTES = 2 ** 16
/** Others wait no longer for their turn. */
const LONGEST_TURN_MS = 10
/** Devices between two looks at the clock. */
const ASKED_EVERY = 8

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
  const withIds = database.prepare<{ fact: string }>(
    'SELECT fact FROM facts WHERE account_id = ? AND id IN (SELECT value FROM json_each(?))',
  )
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
  const judgedIds = database.prepare<DueDevice>(
    `SELECT account_id AS accountId, device_id AS deviceId FROM states
     WHERE account_id = ? AND device_id > ? ORDER BY device_id LIMIT ?`,
  )
  const holders = database.prepare<{ deviceId: string }>(
    `SELECT device_id AS deviceId FROM holding
     WHERE account_id = ? AND definition_id = ? AND device_id > ? ORDER BY device_id LIMIT ?`,
  )
  const watchSettings = sqliteWatchSettings(accounts)
  const page = factPages(database)
  const states = factStates(database, clock, () => progress.forget())
  const progress = factProgress(database, states)

  /**
   * Writes states with their facts and the progress in one transaction: all or nothing. `read`: entries that are judged
   * with it.
   */
  function write(changes: readonly Decided[], read?: EntriesRead): void {
    states.write(changes, () => {
      for (const { facts } of changes) {
        for (const { fact, text } of facts) {
          const { id, accountId, deviceId, type, at, decidedAt } = fact
          insert.execute(id, accountId, deviceId, type, at, decidedAt, text)
        }
      }
      progress.save(changes, read)
    })
    if (changes.some(({ facts }) => facts.length > 0)) log.appended()
  }

  /** Writes each device's state with its facts; those that the file refuses stay as they were. */
  function writeEach(changes: readonly Decided[], outcome: Outcome, read?: EntriesRead): void {
    try {
      write(changes, read)
      for (const { facts } of changes) for (const { fact } of facts) outcome.facts.push(fact)
    } catch (error) {
      const [one, ...others] = changes
      if (one === undefined || !isRefused(error)) throw error
      if (others.length > 0) for (const change of changes) writeEach([change], outcome)
      else {
        const { accountId, deviceId } = one.known
        outcome.failed.push({ accountId, deviceId, error })
        // It would be tried again for ever.
        if (one.facts.length === 0) states.giveUp(one.known)
      }
      if (read !== undefined) write([], read)
    }
  }

  return {
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
          const seenAt = stateSeenAt(state)
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

    async judgeFacts({ read, devices }) {
      let after = -1
      if (read !== undefined) {
        after = progress.judged().get(read.partition)?.last_offset ?? -1
        if (after < (read.after ?? -1)) {
          throw new WentBackError(read.partition, { from: read.after ?? -1, to: after })
        }
        if (read.lastOffset <= after) return NOTHING
      }
      const outcome: Outcome = { facts: [], failed: [] }
      /** To be written in one transaction. */
      let decided: Decided[] = []
      let bytes = 0
      let turnEnds = performance.now() + LONGEST_TURN_MS

      /** The others are judged in a turn of their own: meanwhile another call may judge, erase or write. */
      async function yieldTurn(): Promise<void> {
        if (decided.length > 0) writeEach(decided, outcome)
        decided = []
        bytes = 0
        await endOfTurn()
        turnEnds = performance.now() + LONGEST_TURN_MS
      }

      for (const [n, device] of devices.entries()) {
        for (let isPartial = true; isPartial;) {
          const known = states.find(device)
          const judged = device.judge(known.state)
          // An entry that was judged already changes nothing.
          if (judged === undefined || judged.state === known.state) break
          const { state } = judged
          const partition = read?.partition ?? known.partition
          isPartial = judged.isPartial === true
          // Without entries that could be judged again, nothing may wait.
          if (judged.facts.length === 0 && read !== undefined) {
            states.change(known, state, partition, after)
          } else {
            const facts = judged.facts.map((fact) => ({ fact, text: JSON.stringify(fact) }))
            bytes += stateSize(state)
            for (const { text } of facts) bytes += text.length
            decided.push({ known, state, partition, facts })
          }
          // The last one is written with the progress: what has facts is not judged again.
          if (!isPartial && n === devices.length - 1) break
          const isLate = n % ASKED_EVERY === 0 && performance.now() > turnEnds
          if (isPartial || bytes > WRITTEN_AT_ONCE_BYTES || isLate) {
            await yieldTurn()
            if (known.state !== state) break
          }
        }
      }
      if (read === undefined) {
        if (decided.length > 0) writeEach(decided, outcome)
        return outcome
      }
      const own = new Set(decided.map(({ known }) => known))
      const overdue = () =>
        states.overdue(read.partition, read.lastOffset).map((one) => ({ ...one, facts: [] }))
      const last = [...decided, ...overdue().filter(({ known }) => !own.has(known))]
      if (last.length > 0 || progress.isFileBehind(read)) writeEach(last, outcome, read)
      progress.move(read)
      while (states.isFull()) {
        await endOfTurn()
        writeEach(overdue(), outcome)
      }
      return outcome
    },

    async eraseFacts(erasure) {
      const known = states.find(erasure.event)
      const state = erasedState(known.state, erasure)
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

    pageFacts: async (query) => page(query, hiddenDevices(query.accountId)),

    async expireFacts(before, signal) {
      log.expire(before)
      while (signal?.aborted !== true && expire.run(before) > 0) await endOfTurn()
      while (signal?.aborted !== true) {
        const silent = expiring.all(before)
        // The file's states may be older than those that it lacks.
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

    watchSettings: async (query) => watchSettings(query),

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
          const since = definitions && standingSince(definitions, definitionId, revision)
          if (since !== undefined) devices.push({ deviceId, since })
        }
        if (devices.length >= limit) break
      }
      return devices.slice(0, limit)
    },
  }
}

/** A state to write together with its facts. */
type Decided = StateChange & {
  readonly facts: readonly { readonly fact: DeviceFact; readonly text: string }[]
}

type Outcome = { readonly facts: DeviceFact[]; readonly failed: FailedDevice[] }
