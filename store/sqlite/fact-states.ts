import { LRUCache } from 'lru-cache'
import { endOfTurn } from '../../runtime/end-of-turn.ts'
import type { Database } from '../../runtime/sqlite/database.ts'
import { isRefusedByDisk } from '../../runtime/sqlite/sqlite-errors.ts'
import type { FactState } from '../../schemas/facts/fact-state.ts'
import { deviceKey } from '../../schemas/events/position-reported.ts'
import { definitionsHolding, findLastSeen, stateSize, type DueDevice } from '../facts.ts'
import type { DeviceName } from './device-statuses.ts'

/** A device's state, and its state in the file. */
export type KnownState = DeviceName & {
  readonly state: FactState | undefined
  readonly partition: number
}

/** A state to write. */
export type StateChange = {
  readonly known: KnownState
  readonly state: FactState
  readonly partition: number
}

/**
 * The states of devices, with a cache. A changed state may be written later: the file's progress in
 * the log stays before the entries its states lack, so after a crash these are judged again.
 * Nothing else writes the file.
 */
export type FactStates = {
  find(device: DeviceName): KnownState
  /**
   * A state that may be written later. `after`: the progress in the partition before the entries
   * that changed it.
   */
  change(known: KnownState, state: FactState, partition: number, after: number): void
  /**
   * Writes states in a transaction, in which `also` takes part. If it fails, everything is as
   * before.
   */
  write(changes: readonly StateChange[], also?: () => void): void
  /** Some of the states that must be written now; `upTo`: the progress in the partition. */
  overdue(partition: number, upTo: number): readonly StateChange[]
  /** Whether more must be written before more is judged. */
  isFull(): boolean
  /**
   * Returns the offset up to which the file has a partition's states once `written` is stored;
   * undefined if no state is missing.
   */
  writtenUpTo(partition: number, written: readonly StateChange[]): number | undefined
  /** The state of a device, without caching it. */
  peek(device: DeviceName): FactState | undefined
  /**
   * Writes the unwritten states that the file's readers would miss: those whose row, deadline or
   * standings differ.
   */
  settle(): Promise<void>
  dueDevices(query: {
    now: number
    limit: number
    partition: number
    skip?: number
  }): Promise<DueDevice[]>
  /** The unwritten states, in parts. */
  unwritten(): Iterable<readonly StateChange[]>
  unwrittenOf(device: DeviceName): StateChange | undefined
  /** Rereads a device after its row was changed elsewhere, unless its state is unwritten. */
  reread(device: DeviceName): void
  /** Discards a state that cannot be written: the device's state is the file's again. */
  giveUp(device: DeviceName): void
}

/** Size as JSON; in memory states take two to four times as much. */
const MOST_REMEMBERED = 32 * 2 ** 20
const MOST_UNWRITTEN = 16 * 2 ** 20
/** At most this many entries are judged again after a crash. */
export const WRITTEN_AFTER_ENTRIES = 200_000
const WRITTEN_AFTER_MS = 10 * 60_000
/** Limits a transaction, so that other work does not wait long. */
const WRITTEN_AT_ONCE = { states: 500, bytes: 2 ** 18 }

type Stored = {
  readonly due: number | null
  readonly partition: number
  readonly holding: readonly string[]
}
type Known = DeviceName & {
  readonly key: string
  state: FactState | undefined
  partition: number
  /** Approximate size of the state as JSON. */
  bytes: number
  /** The state in the file; undefined if there is none. */
  stored: Stored | undefined
  /** Set while the file lacks this state. */
  unwritten: { readonly after: number; readonly since: number } | undefined
}
type Unwritten = Known & { readonly state: FactState }
type StateRow = { readonly partition: number; readonly due: number | null; readonly state: string }

/** `onForgotten`: entries behind the discarded state must be judged again. */
export function factStates(
  database: Database,
  clock: { now(): number },
  onForgotten: () => void,
): FactStates {
  const read = database.prepare<StateRow>(
    'SELECT log_partition AS "partition", due, state FROM states WHERE account_id = ? AND device_id = ?',
  )
  const save = database.prepare('REPLACE INTO states VALUES (?, ?, ?, ?, ?, ?)')
  // Most reports change no deadline: then the index of deadlines is not written.
  const update = database.prepare(
    'UPDATE states SET seen_at = ?, state = ? WHERE account_id = ? AND device_id = ?',
  )
  const hold = database.prepare('REPLACE INTO holding VALUES (?, ?, ?)')
  const holdNoMore = database.prepare(
    'DELETE FROM holding WHERE account_id = ? AND definition_id = ? AND device_id = ?',
  )
  const due = database.prepare<DueDevice>(
    `SELECT account_id AS accountId, device_id AS deviceId FROM states
     WHERE log_partition = ? AND due <= ? ORDER BY due LIMIT ? OFFSET ?`,
  )
  const cache = new LRUCache<string, Known>({
    maxSize: MOST_REMEMBERED,
    sizeCalculation: ({ bytes }) => bytes,
  })
  /** Unwritten states, in the order of their first unwritten change. */
  const unwritten = new Map<string, Unwritten>()
  let unwrittenBytes = 0
  /** Unwritten states that readers of the file would miss. */
  const missed = new Set<Unwritten>()

  function find(device: DeviceName): Known {
    const key = deviceKey(device)
    const known = unwritten.get(key) ?? cache.get(key)
    if (known !== undefined) return known
    const found = readFromFile(device, key)
    cache.set(key, found)
    return found
  }

  function readFromFile({ accountId, deviceId }: DeviceName, key: string): Known {
    const row = read.get(accountId, deviceId)
    const none = { state: undefined, stored: undefined, unwritten: undefined, bytes: NO_STATE }
    if (row === undefined) return { key, accountId, deviceId, partition: 0, ...none }
    const { partition, due } = row
    const state = JSON.parse(row.state) as FactState
    const stored = { due, partition, holding: definitionsHolding(state) }
    const bytes = row.state.length
    return { key, accountId, deviceId, partition, state, bytes, stored, unwritten: undefined }
  }

  /** Returns what to cache once the transaction has succeeded. */
  function writeOne({ known, state, partition }: StateChange): () => void {
    const changed = known as Known
    const { accountId, deviceId, stored } = changed
    const text = JSON.stringify(state)
    const seenAt = findLastSeen(state)
    if (stored !== undefined && stored.due === state.due && stored.partition === partition) {
      update.execute(seenAt, text, accountId, deviceId)
    } else save.execute(accountId, deviceId, partition, state.due, seenAt, text)
    const holding = definitionsHolding(state)
    const before = stored?.holding ?? []
    for (const id of holding) if (!before.includes(id)) hold.execute(accountId, id, deviceId)
    for (const id of before) if (!holding.includes(id)) holdNoMore.execute(accountId, id, deviceId)
    return () => {
      forgetUnwritten(changed)
      changed.state = state
      changed.partition = partition
      changed.stored = { due: state.due, partition, holding }
      changed.bytes = text.length
      // Deleted first, because the cache computes the size of a value only once.
      cache.delete(changed.key)
      cache.set(changed.key, changed)
    }
  }

  function write(changes: readonly StateChange[], also: () => void = nothing): void {
    try {
      const remember = database.transaction(() => {
        const written = changes.map(writeOne)
        also()
        return written
      })
      for (const one of remember) one()
    } catch (error) {
      // A commit that failed may have taken effect: everything is as in the file.
      if (isRefusedByDisk(error)) forgetAll()
      throw error
    }
  }

  function forgetAll(): void {
    cache.clear()
    unwritten.clear()
    unwrittenBytes = 0
    missed.clear()
    onForgotten()
  }

  function forgetUnwritten(known: Known): void {
    if (known.unwritten === undefined) return
    known.unwritten = undefined
    unwritten.delete(known.key)
    unwrittenBytes -= known.bytes
    missed.delete(known as Unwritten)
  }

  /** Each part in a separate event-loop turn; states written in the meantime are omitted. */
  async function writeInTurns(states: readonly Unwritten[]): Promise<void> {
    for (const piece of piecesOf(states)) {
      const left = piece.filter((one) => one.unwritten !== undefined)
      if (left.length === 0) continue
      write(left.map(changeOf))
      await endOfTurn()
    }
  }

  const settle = () => writeInTurns([...missed])

  return {
    find,
    write,
    settle,

    change(known, state, partition, after) {
      const changed = known as Known
      const bytes = stateSize(state)
      if (changed.unwritten === undefined) {
        changed.unwritten = { after, since: clock.now() }
        unwritten.set(changed.key, changed as Unwritten)
        cache.delete(changed.key)
        unwrittenBytes += bytes
      } else unwrittenBytes += bytes - changed.bytes
      changed.state = state
      changed.partition = partition
      changed.bytes = bytes
      if (isMissed(changed, state)) missed.add(changed as Unwritten)
      else if (missed.size > 0) missed.delete(changed as Unwritten)
    },

    overdue(partition, upTo) {
      const [first] = unwritten.values()
      if (first?.unwritten === undefined) return []
      const { after, since } = first.unwritten
      const isOverdue =
        unwrittenBytes > MOST_UNWRITTEN ||
        (first.partition === partition && upTo - after > WRITTEN_AFTER_ENTRIES) ||
        clock.now() - since > WRITTEN_AFTER_MS
      if (!isOverdue) return []
      const [piece = []] = piecesOf(unwritten.values())
      return piece.map(changeOf)
    },

    isFull: () => unwrittenBytes > MOST_UNWRITTEN,

    writtenUpTo(partition, written) {
      const others = new Set(written.map(({ known }) => known))
      for (const known of unwritten.values()) {
        if (known.partition === partition && !others.has(known)) return known.unwritten?.after
      }
      return undefined
    },

    peek(device) {
      const key = deviceKey(device)
      return (unwritten.get(key) ?? cache.peek(key) ?? readFromFile(device, key)).state
    },

    async dueDevices({ now, limit, partition, skip = 0 }) {
      await settle()
      for (;;) {
        const found = due.all(partition, now, limit, skip)
        // A report may have moved the deadline since the state was written.
        const moved = found.flatMap((device) => {
          const known = unwritten.get(deviceKey(device))
          const at = known?.state.due ?? null
          return known === undefined || (at !== null && at <= now) ? [] : [known]
        })
        if (moved.length === 0) return found
        await writeInTurns(moved)
      }
    },

    *unwritten() {
      for (const piece of piecesOf([...unwritten.values()])) yield piece.map(changeOf)
    },

    unwrittenOf(device) {
      const known = unwritten.get(deviceKey(device))
      return known && changeOf(known)
    },

    reread: (device) => void cache.delete(deviceKey(device)),

    giveUp(device) {
      const known = unwritten.get(deviceKey(device))
      if (known !== undefined) forgetUnwritten(known)
      cache.delete(deviceKey(device))
    },
  }
}

/** The size of a device without a state. */
const NO_STATE = 100

function nothing(): void {
  // Takes no other part in the transaction.
}

function changeOf(known: Unwritten): StateChange {
  return { known, state: known.state, partition: known.partition }
}

/** A deadline that was postponed is checked when the file's deadline has passed. */
function isMissed({ stored, partition }: Known, state: FactState): boolean {
  if (stored?.partition !== partition) return true
  if (state.due !== null && (stored.due === null || state.due < stored.due)) return true
  const holding = definitionsHolding(state)
  return (
    holding.length !== stored.holding.length || holding.some((id) => !stored.holding.includes(id))
  )
}

/** Splits states into pieces of one transaction each. */
function* piecesOf<State extends Known>(states: Iterable<State>): Generator<State[]> {
  let piece: State[] = []
  let bytes = 0
  for (const state of states) {
    piece.push(state)
    bytes += state.bytes
    if (piece.length < WRITTEN_AT_ONCE.states && bytes < WRITTEN_AT_ONCE.bytes) continue
    yield piece
    piece = []
    bytes = 0
  }
  if (piece.length > 0) yield piece
}
