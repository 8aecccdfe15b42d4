import { LRUCache } from 'lru-cache'
import type { Database } from '../../runtime/sqlite/database.ts'
import type { FactState } from '../../schemas/fact-state.ts'
import { deviceKey } from '../../schemas/position-reported.ts'
import { definitionsHolding, stateSeenAt, type DueDevice } from '../facts.ts'
import type { DeviceName } from './device-statuses.ts'

/** A device's state, and what the file has of it. */
export type KnownState = DeviceName & {
  readonly state: FactState | undefined
  readonly partition: number
}

/**
 * The states of devices, with a cache. A changed state may be written later: the file's progress in the log stays
 * before the entries that its states lack, so after a crash they are judged again. The file has no other writer.
 */
export type FactStates = {
  find(device: DeviceName): KnownState
  /** `after`: the progress in the partition before the entries that changed it. */
  change(known: KnownState, state: FactState, partition: number, after: number): void
  /** In a transaction: writes these states. */
  write(states: Iterable<KnownState>): void
  /** In a transaction: writes all states that the file lacks. */
  writeAll(): void
  /** The states that must be written now; `upTo`: the progress in the partition. */
  overdue(partition: number, upTo: number): readonly KnownState[]
  /** As far as the file has the states of a partition; undefined: it lacks none. */
  writtenUpTo(partition: number): number | undefined
  /** The state of a device, without remembering it. */
  peek(device: DeviceName): FactState | undefined
  /** Writes the states that the file lacks and that its readers would miss: where the row, deadline or holding differs. */
  settle(): void
  dueDevices(query: { now: number; limit: number; partition: number; skip?: number }): DueDevice[]
  /** After a failed transaction, or a change of the table from outside: everything not written is lost. */
  forget(): void
}

const REMEMBERED = 50_000
/** After a crash, this many entries are judged again at most. */
export const WRITTEN_AFTER_ENTRIES = 200_000
const WRITTEN_AFTER_MS = 10 * 60_000
const MOST_UNWRITTEN = 25_000
/** So that nobody waits for a long transaction. */
const WRITTEN_AT_ONCE = 1_000

type Stored = {
  readonly due: number | null
  readonly partition: number
  readonly holding: readonly string[]
}
type Known = DeviceName & {
  readonly key: string
  state: FactState | undefined
  partition: number
  /** Undefined: the file has no state. */
  stored: Stored | undefined
  /** Undefined: the file has this state. */
  unwritten: { readonly after: number; readonly since: number } | undefined
}
type StateRow = { readonly partition: number; readonly due: number | null; readonly state: string }

export function factStates(database: Database, clock: { now(): number }): FactStates {
  const read = database.prepare<StateRow>(
    'SELECT log_partition AS "partition", due, state FROM states WHERE account_id = ? AND device_id = ?',
  )
  const save = database.prepare('REPLACE INTO states VALUES (?, ?, ?, ?, ?, ?)')
  // Most reports move no deadline: the index of deadlines is not written then.
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
  const cache = new LRUCache<string, Known>({ maxSize: REMEMBERED, sizeCalculation: () => 1 })
  /** In the order of their first unwritten change. */
  const unwritten = new Map<string, Known>()
  /** Unwritten states that readers of the file would miss. */
  const missed = new Set<Known>()

  function find(device: DeviceName): Known {
    const key = deviceKey(device)
    const known = unwritten.get(key) ?? cache.get(key)
    if (known !== undefined) return known
    const found = inFile(device, key)
    cache.set(key, found)
    return found
  }

  function inFile({ accountId, deviceId }: DeviceName, key: string): Known {
    const row = read.get(accountId, deviceId)
    const none = { state: undefined, stored: undefined, unwritten: undefined }
    if (row === undefined) return { key, accountId, deviceId, partition: 0, ...none }
    const { partition, due } = row
    const state = JSON.parse(row.state) as FactState
    const stored = { due, partition, holding: definitionsHolding(state) }
    return { key, accountId, deviceId, partition, state, stored, unwritten: undefined }
  }

  function writeOne(known: Known): void {
    const { accountId, deviceId, state, partition, stored } = known
    if (state === undefined) return
    const text = JSON.stringify(state)
    const seenAt = stateSeenAt(state)
    if (stored !== undefined && stored.due === state.due && stored.partition === partition) {
      update.execute(seenAt, text, accountId, deviceId)
    } else save.execute(accountId, deviceId, partition, state.due, seenAt, text)
    const holding = definitionsHolding(state)
    const before = stored?.holding ?? []
    for (const id of holding) if (!before.includes(id)) hold.execute(accountId, id, deviceId)
    for (const id of before) if (!holding.includes(id)) holdNoMore.execute(accountId, id, deviceId)
    known.stored = { due: state.due, partition, holding }
    known.unwritten = undefined
    if (unwritten.delete(known.key)) cache.set(known.key, known)
    missed.delete(known)
  }

  function write(states: Iterable<KnownState>): void {
    for (const known of states) writeOne(known as Known)
  }

  function forget(): void {
    cache.clear()
    unwritten.clear()
    missed.clear()
  }

  function writeNow(states: readonly Known[]): void {
    if (states.length === 0) return
    try {
      database.transaction(() => write(states))
    } catch (error) {
      forget()
      throw error
    }
  }

  return {
    find,
    write,
    forget,

    change(known, state, partition, after) {
      const changed = known as Known
      changed.state = state
      changed.partition = partition
      if (changed.unwritten === undefined) {
        changed.unwritten = { after, since: clock.now() }
        unwritten.set(changed.key, changed)
      }
      if (isMissed(changed, state)) missed.add(changed)
      else if (missed.size > 0) missed.delete(changed)
    },

    writeAll: () => write([...unwritten.values()]),

    overdue(partition, upTo) {
      const [first] = unwritten.values()
      if (first?.unwritten === undefined) return []
      const { after, since } = first.unwritten
      const isOverdue =
        unwritten.size > MOST_UNWRITTEN ||
        (first.partition === partition && upTo - after > WRITTEN_AFTER_ENTRIES) ||
        clock.now() - since > WRITTEN_AFTER_MS
      return isOverdue ? [...take(WRITTEN_AT_ONCE, unwritten.values())] : []
    },

    writtenUpTo(partition) {
      for (const known of unwritten.values()) {
        if (known.partition === partition) return known.unwritten?.after
      }
      return undefined
    },

    peek(device) {
      const key = deviceKey(device)
      return (unwritten.get(key) ?? cache.peek(key) ?? inFile(device, key)).state
    },

    settle: () => writeNow([...missed]),

    dueDevices({ now, limit, partition, skip = 0 }) {
      writeNow([...missed])
      for (;;) {
        const found = due.all(partition, now, limit, skip)
        // A report may have moved the deadline since the state was written.
        const moved = found.flatMap((device) => {
          const known = unwritten.get(deviceKey(device))
          const at = known?.state?.due ?? null
          return known === undefined || (at !== null && at <= now) ? [] : [known]
        })
        if (moved.length === 0) return found
        writeNow(moved)
      }
    },
  }
}

/** A deadline that has moved to later is looked at when the file's has passed. */
function isMissed({ stored, partition }: Known, state: FactState): boolean {
  if (stored?.partition !== partition) return true
  if (state.due !== null && (stored.due === null || state.due < stored.due)) return true
  const holding = definitionsHolding(state)
  return (
    holding.length !== stored.holding.length || holding.some((id) => !stored.holding.includes(id))
  )
}

function* take<Item>(count: number, items: Iterable<Item>): Generator<Item> {
  let left = count
  for (const item of items) {
    if (left <= 0) return
    left -= 1
    yield item
  }
}
