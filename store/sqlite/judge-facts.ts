import type { DeviceFact } from '../../schemas/facts/facts.ts'
import { endOfTurn } from '../../runtime/end-of-turn.ts'
import type { Database } from '../../runtime/sqlite/database.ts'
import { isRefused } from '../../runtime/sqlite/sqlite-errors.ts'
import {
  stateSize,
  type EntriesRead,
  type FactStore,
  type FailedDevice,
  type JudgedFacts,
} from '../facts.ts'
import { WentBackError } from '../projection-batch.ts'
import type { SqliteFactLog } from './fact-log.ts'
import { WRITTEN_AFTER_ENTRIES, type FactStates, type StateChange } from './fact-states.ts'

/** Bytes of states and facts, as JSON, per transaction; more only if one input needs it. */
const WRITTEN_AT_ONCE_BYTES = 2 ** 16
/** Maximum time that other work waits. */
const LONGEST_TURN_MS = 10
/** Number of devices judged between two checks of the clock. */
const ASKED_EVERY = 8

const NOTHING: JudgedFacts = { facts: [], failed: [] }

/**
 * Judges devices, and writes their states, facts and the progress in transactions short enough for
 * others.
 */
export function judgeInTransactions(
  database: Database,
  {
    states,
    progress,
    log,
  }: {
    states: FactStates
    progress: ReturnType<typeof factProgress>
    log: Pick<SqliteFactLog, 'appended'>
  },
): FactStore['judgeFacts'] {
  const insert = database.prepare(
    `INSERT INTO facts (id, account_id, device_id, type, at, decided_at, fact)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  )

  /**
   * Writes states with their facts and the progress in one transaction: all or nothing. `read`: the
   * entries judged with it.
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

  /** Writes each device's state with its facts; states that the file rejects remain unchanged. */
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
        // Otherwise it would be retried forever.
        if (one.facts.length === 0) states.giveUp(one.known)
      }
      if (read !== undefined) write([], read)
    }
  }

  return async function judgeFacts({ read, devices }) {
    let after = -1
    if (read !== undefined) {
      after = progress.judged().get(read.partition)?.last_offset ?? -1
      if (after < (read.after ?? -1)) {
        throw new WentBackError(read.partition, { from: read.after ?? -1, to: after })
      }
      if (read.lastOffset <= after) return NOTHING
    }
    const outcome: Outcome = { facts: [], failed: [] }
    /** Decisions to write in one transaction. */
    let decided: Decided[] = []
    let bytes = 0
    let turnEnds = performance.now() + LONGEST_TURN_MS

    /**
     * The rest is judged in a later event-loop turn: in between another call may judge, erase or
     * write.
     */
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
        // Without entries to judge again after a crash, no state may remain unwritten.
        if (judged.facts.length === 0 && read !== undefined) {
          states.change(known, state, partition, after)
        } else {
          const facts = judged.facts.map((fact) => ({ fact, text: JSON.stringify(fact) }))
          bytes += stateSize(state)
          for (const { text } of facts) bytes += text.length
          decided.push({ known, state, partition, facts })
        }
        // The last one is written with the progress: inputs that caused facts are not judged again.
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
  }
}

/** A state to write together with its facts. */
type Decided = StateChange & {
  readonly facts: readonly { readonly fact: DeviceFact; readonly text: string }[]
}

type Outcome = { readonly facts: DeviceFact[]; readonly failed: FailedDevice[] }

type ProgressRow = {
  readonly log_partition: number
  readonly last_offset: number
  readonly event_offset: number | null
  readonly event_id: string | null
}

/**
 * The progress of judging the log's entries. The file's progress may lag behind, with the states it
 * lacks.
 */
export function factProgress(database: Database, states: Pick<FactStates, 'writtenUpTo'>) {
  const read = database.prepare<ProgressRow>('SELECT * FROM progress')
  const write = database.prepare('REPLACE INTO progress VALUES (?, ?, ?, ?)')
  let known: Map<number, ProgressRow> | undefined
  /** The progress stored in the file. */
  const inFile = new Map<number, number>()

  function readProgress(): Map<number, ProgressRow> {
    if (known === undefined) {
      known = new Map(read.all().map((row) => [row.log_partition, row]))
      for (const { log_partition, last_offset } of known.values()) {
        inFile.set(log_partition, last_offset)
      }
    }
    return known
  }

  function progressRow({ partition, lastOffset, lastEvent }: EntriesRead): ProgressRow {
    const before = readProgress().get(partition)
    return {
      log_partition: partition,
      last_offset: lastOffset,
      event_offset: lastEvent?.offset ?? before?.event_offset ?? null,
      event_id: lastEvent?.id ?? before?.event_id ?? null,
    }
  }

  return {
    /** Keyed by partition. */
    judged: readProgress as () => ReadonlyMap<number, ProgressRow>,

    move(read: EntriesRead): void {
      readProgress().set(read.partition, progressRow(read))
    },

    /** Writes where judging starts; call it in a transaction. */
    begin(partition: number, offset: number): void {
      write.run(partition, offset, null, null)
    },

    /**
     * In the transaction that writes states: writes the progress up to the first entry whose state
     * the file then lacks; `read`: the entries judged with it.
     */
    save(changes: readonly StateChange[], read?: EntriesRead): void {
      const rows = new Map(readProgress())
      if (read !== undefined) rows.set(read.partition, progressRow(read))
      for (const { log_partition, last_offset, event_offset, event_id } of rows.values()) {
        const written = states.writtenUpTo(log_partition, changes) ?? last_offset
        write.execute(log_partition, written, event_offset, event_id)
        inFile.set(log_partition, written)
      }
    },

    /** Entries that change no state, such as imported history, advance the file's progress too. */
    isFileBehind({ partition, lastOffset }: EntriesRead): boolean {
      if (states.writtenUpTo(partition, []) !== undefined) return false
      return lastOffset - (inFile.get(partition) ?? -1) > WRITTEN_AFTER_ENTRIES
    },

    /** Drops cached progress after the table was changed elsewhere. */
    forget(): void {
      known = undefined
    },
  }
}
