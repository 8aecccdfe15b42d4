import { sleepers } from '../../runtime/process/repeat.ts'
import type { Database } from '../../runtime/sqlite/database.ts'
import { tableTail } from '../../runtime/sqlite/table-tail.ts'
import type { DeviceFact } from '../../schemas/facts/facts.ts'
import type { ErasureEntry, FactEntry } from '../../schemas/events/log-entry.ts'
import type { FactLog, FactLogBatch } from '../../event-log/fact-log.ts'

/** All facts are in one partition, in the order in which they were stored. */
const PARTITION = 0
const MAX_ENTRIES = 500
/** Another process may have stored facts. */
const LOOK_AGAIN_MS = 1_000

export type SqliteFactLog = FactLog & {
  /** Assigns an erasure the next offset; in the transaction that removes the device's facts. */
  addErasure(erasure: ErasureEntry['event']): void
  /** Called before facts decided before this time are removed. */
  expire(before: number): void
  /** Wakes the readers. */
  appended(): void
  close(): void
}

type FactRow = { readonly place: number; readonly fact: string }
type ErasureRow = ErasureEntry['event'] & { readonly place: number }
type N = { readonly n: number | null }

/** The facts of a file as a log; erasures have offsets among them. */
export function sqliteFactLog(database: Database): SqliteFactLog {
  const lastPlace = database.prepare<N>(`SELECT seq AS n FROM sqlite_sequence WHERE name = 'facts'`)
  const takePlace = database.prepare(
    `UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'facts'`,
  )
  const takeFirstPlace = database.prepare(`INSERT INTO sqlite_sequence VALUES ('facts', 1)`)
  const insert = database.prepare('INSERT INTO erasures VALUES (?, ?, ?, ?, ?)')
  const facts = database.prepare<FactRow>(
    'SELECT place, fact FROM facts WHERE place > ? ORDER BY place LIMIT ?',
  )
  const erasures = database.prepare<ErasureRow>(
    `SELECT place, event_id AS eventId, account_id AS accountId, device_id AS deviceId,
       erased_at AS erasedAt
     FROM erasures WHERE place > ? AND place <= ? ORDER BY place`,
  )
  const expiredUpTo = database.prepare<N>('SELECT up_to AS n FROM expired')
  const newestBefore = database.prepare<N>(
    'SELECT place AS n FROM facts WHERE decided_at < ? ORDER BY decided_at DESC, place DESC LIMIT 1',
  )
  const moveExpired = database.prepare('UPDATE expired SET up_to = max(up_to, ?)')
  const expireErasures = database.prepare('DELETE FROM erasures WHERE erased_at < ?')
  const firstDecided = database.prepare<N>(
    'SELECT place AS n FROM facts WHERE decided_at >= ? ORDER BY decided_at, place LIMIT 1',
  )
  const firstErased = database.prepare<N>(
    'SELECT min(place) AS n FROM erasures WHERE erased_at >= ?',
  )
  const waiting = sleepers()
  let closed = false

  const last = () => lastPlace.get()?.n ?? 0
  const expired = () => expiredUpTo.get()?.n ?? 0

  return {
    addErasure({ eventId, accountId, deviceId, erasedAt }) {
      if (takePlace.run() === 0) takeFirstPlace.run()
      insert.run(last(), eventId, accountId, deviceId, erasedAt)
    },

    expire(before) {
      moveExpired.run(newestBefore.get(before)?.n ?? 0)
      expireErasures.run(before)
    },

    appended: () => waiting.wakeAll(),

    close() {
      closed = true
      waiting.wakeAll()
    },

    async extent() {
      const first = expired() + 1
      return [{ partition: PARTITION, first, next: last() + 1, whole: first === 1 }]
    },

    async placeBefore(time) {
      const found = [firstDecided.get(time)?.n, firstErased.get(time)?.n]
      const first = Math.min(...found.map((place) => place ?? last() + 1))
      return { [PARTITION]: first - 1 }
    },

    tail({ after: from, signal }) {
      // An offset beyond the end belongs to another file; new facts must not be skipped because of
      // it.
      const after = from === 'end' ? last() : Math.min(from[PARTITION] ?? 0, last())
      return tableTail({
        partition: PARTITION,
        after,
        read,
        removedUpTo: expired,
        waiting,
        lookAgainMs: LOOK_AGAIN_MS,
        hasEnded: () => closed,
        signal,
      })
    },
  }

  function read(after: number): FactLogBatch | undefined {
    // Before the rows: a fact stored by another process in between belongs to the next batch.
    const end = last()
    if (after >= end) return undefined
    const rows = facts.all(after, MAX_ENTRIES).filter(({ place }) => place <= end)
    const lastOffset = rows.length < MAX_ENTRIES ? end : (rows.at(-1)?.place ?? end)
    const entries = [
      ...rows.map(({ place, fact }): FactEntry => {
        const event = JSON.parse(fact) as DeviceFact
        return { kind: 'fact', origin: { partition: PARTITION, offset: place }, event }
      }),
      ...erasures.all(after, lastOffset).map(({ place, ...event }): ErasureEntry => {
        return { kind: 'erasure', origin: { partition: PARTITION, offset: place }, event }
      }),
    ]
    entries.sort((one, other) => one.origin.offset - other.origin.offset)
    return { partition: PARTITION, lastOffset, entries }
  }
}
