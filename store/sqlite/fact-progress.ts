import type { Database } from '../../runtime/sqlite/database.ts'
import type { EntriesRead } from '../facts.ts'
import { WRITTEN_AFTER_ENTRIES, type FactStates } from './fact-states.ts'

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

  return {
    /** By partition. */
    judged: judged as () => ReadonlyMap<number, ProgressRow>,

    move({ partition, lastOffset, lastEvent }: EntriesRead): void {
      const before = judged().get(partition)
      judged().set(partition, {
        log_partition: partition,
        last_offset: lastOffset,
        event_offset: lastEvent?.offset ?? before?.event_offset ?? null,
        event_id: lastEvent?.id ?? before?.event_id ?? null,
      })
    },

    /** In a transaction: writes where judging begins. */
    begin(partition: number, offset: number): void {
      write.run(partition, offset, null, null)
    },

    /** In a transaction: writes the progress up to the first entry whose state the file lacks. */
    save(): void {
      for (const { log_partition, last_offset, event_offset, event_id } of judged().values()) {
        const written = states.writtenUpTo(log_partition) ?? last_offset
        write.execute(log_partition, written, event_offset, event_id)
        inFile.set(log_partition, written)
      }
    },

    /** Entries that change no state, such as imported history, move the file's progress too. */
    isFileBehind({ partition, lastOffset }: EntriesRead): boolean {
      if (states.writtenUpTo(partition) !== undefined) return false
      return lastOffset - (inFile.get(partition) ?? -1) > WRITTEN_AFTER_ENTRIES
    },

    /** After a failed transaction, or a change of the table: everything is as in the file. */
    forget(): void {
      known = undefined
    },
  }
}
