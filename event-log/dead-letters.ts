import type { LogEntry, UnreadableEntry } from './event-log.ts'

/** What could not be read once, and what it is read as by this version. */
export type DeadLetter = {
  readonly kept: UnreadableEntry
  readonly now: LogEntry
}

/** Consecutive dead letters; `upTo` is the place of the last one. */
export type DeadLetters = {
  readonly letters: readonly DeadLetter[]
  readonly upTo: { readonly partition: number; readonly offset: number }
}

/** The dead letters of a log: for operators who have mended what could not be read. */
export interface DeadLetterLog {
  /** Those that are kept now, oldest first, at most 500 at once. */
  readDeadLetters(): AsyncIterable<DeadLetters>

  /**
   * Settles letters that were read, in the order in which they were read: `replay` are appended to
   * the log again, key and value byte for byte, and are dead letters no more; `keep` stay; the
   * others go. What a crash leaves half done may be appended, or kept, twice.
   * @throws {DependencyError} as `append` does.
   */
  settleDeadLetters(
    read: DeadLetters,
    fate: { readonly replay: readonly DeadLetter[]; readonly keep: readonly DeadLetter[] },
  ): Promise<void>
}
