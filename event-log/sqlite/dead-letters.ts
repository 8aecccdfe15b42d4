import type { Database } from '../../runtime/sqlite/database.ts'
import type { DeadLetter, DeadLetterLog } from '../dead-letters.ts'
import { batchReader, PARTITION } from './batch-reader.ts'

const AT_ONCE = 100

type Row = { readonly offset: number; readonly reason: string }

/** A dead letter's event stays in the log as long as the letter is kept, so this stores no copies. */
export function sqliteDeadLetters(database: Database, onAppended: () => void): DeadLetterLog {
  const next = database.prepare<Row>(
    `SELECT offset, reason FROM dead_letters WHERE partition = ? AND offset > ?
     ORDER BY offset LIMIT ${AT_ONCE}`,
  )
  const bytes = database.prepare<{ key: Uint8Array; value: Uint8Array | null }>(
    'SELECT CAST(key AS BLOB) AS key, value FROM events WHERE offset = ?',
  )
  const appendAgain = database.prepare(
    `INSERT INTO events (key, type, id, received_at, value, spooled)
     SELECT key, type, id, received_at, value, spooled FROM events WHERE offset = ?`,
  )
  const remove = database.prepare('DELETE FROM dead_letters WHERE partition = ? AND offset = ?')
  const read = batchReader(database)

  return {
    async *readDeadLetters() {
      for (let last = -1; ;) {
        const rows = next.all(PARTITION, last)
        const end = rows.at(-1)
        if (end === undefined) return
        last = end.offset
        yield { letters: rows.flatMap(letterOf), upTo: { partition: PARTITION, offset: last } }
      }
    },

    async settleDeadLetters({ letters }, { replay, keep }) {
      database.transaction(() => {
        for (const { kept } of replay) appendAgain.run(kept.origin.offset)
        for (const letter of letters) {
          if (!keep.includes(letter)) remove.run(PARTITION, letter.kept.origin.offset)
        }
      })
      onAppended()
    },
  }

  function letterOf({ offset, reason }: Row): DeadLetter[] {
    const event = bytes.get(offset)
    const now = read(offset - 1)?.entries[0]
    // Retention has just deleted the event together with the letter.
    if (event === undefined || now?.origin.offset !== offset) return []
    const origin = { partition: PARTITION, offset }
    return [{ kept: { kind: 'unreadable', origin, reason, ...event }, now }]
  }
}
