import type { LogEntry, UnreadableEntry } from './event-log.ts'

/** An entry that could not be read when it arrived, and the result of reading it now. */
export type DeadLetter = {
  readonly kept: UnreadableEntry
  readonly now: LogEntry
}

/** Consecutive dead letters; `upTo` is the origin of the last one. */
export type DeadLetters = {
  readonly letters: readonly DeadLetter[]
  readonly upTo: { readonly partition: number; readonly offset: number }
}

/** The dead letters of a log, for operators who have fixed the cause. */
export interface DeadLetterLog {
  /** The dead letters kept now, oldest first, in batches of at most 500. */
  readDeadLetters(): AsyncIterable<DeadLetters>

  /**
   * Settles letters in the order in which they were read. `replay`: appended to the log again, key
   * and value byte for byte, and no longer dead letters. `keep`: they stay. The others are deleted.
   * After a crash, some may be appended, or kept, twice.
   * @throws {DependencyError} as `append` does.
   */
  settleDeadLetters(
    read: DeadLetters,
    fate: { readonly replay: readonly DeadLetter[]; readonly keep: readonly DeadLetter[] },
  ): Promise<void>
}
