import type { Database } from '../../runtime/sqlite/database.ts'
import type { EntriesRead } from '../facts.ts'
import { WRITTEN_AFTER_ENTRIES, type FactStates, type StateChange } from './fact-states.ts'

type ProgressRow = {
  readonly log_partition: number
  readonly last_offset: number
  readonly event_offset: number | null
  readonly event_id: string | null
}

/** As far as the entries of the log are judged. The file's own progress may be behind, with the states that it lacks. */
export function factProgress(database: Database, states: Pick<FactStates, 'writtenUpTo'>) {
  const read = database.prepare<ProgressRow>('SELECT * FROM progress')
  const write = database.prepare('REPLACE INTO progress VALUES (?, ?, ?, ?)')
  let known: Map<number, ProgressRow> | undefined
  /** The progress that the file has. */
  const inFile = new Map<number, number>()

  function judged(): Map<number, ProgressRow> {
    if (known === undefined) {
      known = new Map(read.all().map((row) => [row.log_partition, row]))
      for (const { log_partition, last_offset } of known.values()) {
        inFile.set(log_partition, last_offset)
      }
    }
    return known
  }

  function rowAfter({ partition, lastOffset, lastEvent }: EntriesRead): ProgressRow {
    const before = judged().get(partition)
    return {
      log_partition: partition,
      last_offset: lastOffset,
      event_offset: lastEvent?.offset ?? before?.event_offset ?? null,
      event_id: lastEvent?.id ?? before?.event_id ?? null,
    }
  }

  return {
    /** By partition. */
    judged: judged as () => ReadonlyMap<number, ProgressRow>,

    move(read: EntriesRead): void {
      judged().set(read.partition, rowAfter(read))
    },

    /** In a transaction: writes where judging begins. */
    begin(partition: number, offset: number): void {
      write.run(partition, offset, null, null)
    },

    /**
     * In the transaction that writes states: writes the progress up to the first entry whose state the file then
     * lacks; `read`: entries that are judged with it.
     */
    save(changes: readonly StateChange[], read?: EntriesRead): void {
      const rows = new Map(judged())
      if (read !== undefined) rows.set(read.partition, rowAfter(read))
      for (const { log_partition, last_offset, event_offset, event_id } of rows.values()) {
        const written = states.writtenUpTo(log_partition, changes) ?? last_offset
        write.execute(log_partition, written, event_offset, event_id)
        inFile.set(log_partition, written)
      }
    },

    /** Entries that change no state, such as imported history, move the file's progress too. */
    isFileBehind({ partition, lastOffset }: EntriesRead): boolean {
      if (states.writtenUpTo(partition, []) !== undefined) return false
      return lastOffset - (inFile.get(partition) ?? -1) > WRITTEN_AFTER_ENTRIES
    },

    /** After a change of the table: everything is as in the file. */
    forget(): void {
      known = undefined
    },
  }
}
